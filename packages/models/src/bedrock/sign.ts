// Authenticates requests to Bedrock: an API key as a bearer token, or AWS Signature Version 4.
import type { AbortSignalLike, HttpRequest } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { AwsV4Signer } from 'aws4fetch'
import { askInTime } from '../transport/ask-in-time.ts'

/** Credentials in the format of AWS credential providers. */
export interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Set for temporary credentials. */
  readonly sessionToken?: string
}

/**
 * Called before every request, so it can renew expiring credentials. Providers of `@aws-sdk/credential-providers` fit.
 */
export type AwsCredentialProvider = () => Promise<AwsCredentials>

export interface Signing {
  readonly region: string
  readonly credentials: AwsCredentials
  readonly nowMs: number
}

/** Returns the request's headers with its signature added. */
export async function signRequest(
  request: Pick<HttpRequest, 'url' | 'headers' | 'body'>,
  { region, credentials, nowMs }: Signing,
): Promise<Readonly<Record<string, string>>> {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials
  const signer = new AwsV4Signer({
    method: 'POST',
    url: request.url,
    headers: { ...request.headers },
    body: request.body,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    service: 'bedrock',
    // Also signs the content type, which the library leaves out but AWS requires if it is sent.
    allHeaders: true,
    region,
    datetime: new Date(nowMs).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  })
  const { headers } = await signer.sign()
  return Object.fromEntries(headers)
}

/** @throws BatonError `model_auth_failed` if the provider fails or returns nothing within 10 s, `cancelled` */
export async function takeCredentials(
  provider: AwsCredentialProvider,
  signal: AbortSignalLike,
): Promise<AwsCredentials> {
  const refuse = (why: string, cause?: unknown) =>
    new BatonError({
      code: 'model_auth_failed',
      // Part of the message, because a log does not keep the hint of a single error.
      message:
        `AWS credentials are unavailable: ${why.replace(/\.$/, '')}; set AWS_BEARER_TOKEN_BEDROCK, or ` +
        'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or check the AWS profile',
      cause,
    })
  return await askInTime(provider, { signal, refuse })
}
