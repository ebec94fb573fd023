// How a request to Bedrock is proved to come from an account: a key as a bearer token, or AWS's Signature Version 4.
import type { AbortSignalLike, HttpRequest } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import { AwsV4Signer } from 'aws4fetch'

/** What an AWS credential provider gives. */
export interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Of temporary credentials. */
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

/** Milliseconds for a credential provider: the metadata service of a machine answers at once or never. */
const CREDENTIALS_TIMEOUT_MS = 10_000

/** @throws BatonError `model_auth_failed` when the provider fails or gives nothing in time, `cancelled` */
export async function takeCredentials(
  provider: AwsCredentialProvider,
  signal: AbortSignalLike,
  timeoutMs = CREDENTIALS_TIMEOUT_MS,
): Promise<AwsCredentials> {
  const refuse = (why: string, cause?: unknown) =>
    new BatonError({
      code: 'model_auth_failed',
      message: `AWS credentials could not be had: ${why}`,
      hint: 'Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or check the AWS profile.',
      cause,
    })
  let stop: () => void = () => undefined
  const stopped = new Promise<never>((_resolve, reject) => {
    const onAbort = () =>
      reject(new BatonError({ code: 'cancelled', message: 'the model call was cancelled', cause: signal.reason }))
    const timer = setTimeout(() => reject(refuse(`nothing came in ${timeoutMs} ms`)), timeoutMs)
    signal.addEventListener('abort', onAbort, { once: true })
    stop = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
    if (signal.aborted) onAbort()
  })
  try {
    return await Promise.race([stopped, provider()])
  } catch (thrown) {
    if (isBatonError(thrown)) throw thrown
    throw refuse(thrown instanceof Error ? thrown.message : String(thrown), thrown)
  } finally {
    stop()
  }
}
