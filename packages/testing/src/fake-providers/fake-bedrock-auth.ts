// Authentication of the fake Bedrock server: a bearer key, or a version 4 signature, computed here by hand from AWS's
// description (IAM user guide, "Create a signed AWS API request"), so that it is independent of the signer under test.
import { createHash, createHmac } from 'node:crypto'
import type { FakeAsked } from './fake-server.ts'

export interface FakeBedrockKeys {
  readonly bearer: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** AWS's rejection, or `undefined` if the request is authentic. Messages are verbatim. */
export function findAuthRefusal(asked: FakeAsked, keys: FakeBedrockKeys): string | undefined {
  const { authorization } = asked.headers
  if (authorization === undefined) return 'Missing Authentication Token'
  if (authorization.startsWith('Bearer '))
    return authorization === `Bearer ${keys.bearer}`
      ? undefined
      : 'Authentication failed: Please make sure your API Key is valid.'
  const parts = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
    authorization,
  )
  const [, keyId, scope = '', signedHeaders = '', signature] = parts ?? []
  if (keyId !== keys.accessKeyId) return 'The security token included in the request is invalid.'
  const expected = buildSignature(asked, { scope, signedHeaders, secret: keys.secretAccessKey })
  return signature === expected
    ? undefined
    : 'The request signature we calculated does not match the signature you provided.'
}

interface Signed {
  readonly scope: string
  readonly signedHeaders: string
  readonly secret: string
}

function buildSignature(asked: FakeAsked, { scope, signedHeaders, secret }: Signed): string {
  const header = (name: string) => String(asked.headers[name] ?? '').trim()
  const path = asked.url
    .split('/')
    .map((segment) => encodeURIComponent(segment))
    .join('/')
  const names = signedHeaders.split(';')
  const headers = names.map((name) => `${name}:${header(name)}\n`).join('')
  const canonical = ['POST', path, '', headers, signedHeaders, sha256(asked.text)].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', header('x-amz-date'), scope, sha256(canonical)].join('\n')
  let key: Buffer = Buffer.from(`AWS4${secret}`)
  for (const part of scope.split('/')) key = createHmac('sha256', key).update(part).digest()
  return createHmac('sha256', key).update(toSign).digest('hex')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
