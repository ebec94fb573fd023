// How a request to Bedrock is proved to come from an account: a key as a bearer token, or AWS's Signature Version 4.
import type { AbortSignalLike, HttpRequest } from '@baton/core'
import { BatonError } from '@baton/core'
import { AwsV4Signer } from 'aws4fetch'
import { askInTime } from '../transport/ask-in-time.ts'

/** Credentials as an AWS credential provider gives them. */
export interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** For temporary credentials. */
  readonly sessionToken?: string
}

/** Asked before every request, so that it can renew what expires; those of `@aws-sdk/credential-providers` fit. */
export type AwsCredentialProvider = () => Promise<AwsCredentials>

export interface Signing {
  readonly region: string
  readonly credentials: AwsCredentials
  readonly nowMs: number
}

/** The headers of the request with its signature among them. */
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
    // The type of the content, too, which the library leaves out: AWS asks for it where it is sent.
    allHeaders: true,
    region,
    datetime: new Date(nowMs).toISOString().replace(/[:-]|\.\d{3}/g, ''),
  })
  const { headers } = await signer.sign()
  return Object.fromEntries(headers)
}

/** @throws BatonError `model_auth_failed` when the provider fails or gives nothing in 10 s, `cancelled` */
export async function takeCredentials(
  provider: AwsCredentialProvider,
  signal: AbortSignalLike,
): Promise<AwsCredentials> {
  const refuse = (why: string, cause?: unknown) =>
    new BatonError({
      code: 'model_auth_failed',
      // In the message, because a log keeps no hint of one error.
      message:
        `AWS credentials could not be had: ${why.replace(/\.$/, '')}; set AWS_BEARER_TOKEN_BEDROCK, or ` +
        'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or check the AWS profile',
      cause,
    })
  return await askInTime(provider, { signal, refuse })
}
