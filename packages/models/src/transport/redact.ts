// Keeps keys out of errors. All text from a provider or network library passes through here before it becomes a
// message.
import type { HttpRequest } from '@baton/core/internal'

const SECRET_NAME = /key|auth|token|secret|signature|credential|cookie|password/i
/** Shorter values are words such as "true"; replacing them would garble messages and protect nothing. */
export const SECRET_LENGTH_MIN = 6

/** Returns a request's secret values: headers and query parameters with sensitive names, and user info. */
export function listSecrets(request: Pick<HttpRequest, 'url' | 'headers'>): readonly string[] {
  const secrets: string[] = []
  for (const [name, value] of Object.entries(request.headers)) {
    if (!SECRET_NAME.test(name)) continue
    secrets.push(value)
    // `Authorization: Bearer <key>`: an error may quote the key without its scheme.
    const lastWord = value.split(' ').at(-1)
    if (lastWord !== undefined) secrets.push(lastWord)
  }
  const query = request.url.split('?')[1] ?? ''
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=')
    if (equals === -1 || !SECRET_NAME.test(pair.slice(0, equals))) continue
    secrets.push(pair.slice(equals + 1), decoded(pair.slice(equals + 1)))
  }
  const userInfo = /^[a-z]+:\/\/([^/?#]*)@/i.exec(request.url)?.[1]
  if (userInfo !== undefined)
    secrets.push(userInfo, decoded(userInfo), ...userInfo.split(':'), ...userInfo.split(':').map(decoded))
  return secrets.filter((secret) => secret.length >= SECRET_LENGTH_MIN)
}

/** Replaces each secret in the text, even if it is quoted as part of an address. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text
  const longestFirst = [...secrets].sort((left, right) => right.length - left.length)
  for (const secret of longestFirst) {
    clean = clean.replaceAll(secret, '[redacted]').replaceAll(encodeURIComponent(secret), '[redacted]')
  }
  return clean
}

/**
 * The target of a request without its query and user info; if a password contains slashes, also without its path. If an
 * `@` follows a `?` or `#`, those may be part of a password, so only the scheme is shown.
 */
export function describePlace(url: string): string {
  const [place = '', ...behind] = url.split(/[?#]/)
  if (behind.some((part) => part.includes('@'))) return `${/^[a-z]{1,16}:\/\//i.exec(url)?.[0] ?? ''}…`
  return place.replace(/^([a-z]+:\/\/)?.*@/i, '$1')
}

/**
 * Removes what addresses in the text may reveal: user info, and values in a query or `name=value` whose name suggests a
 * secret. For third-party text, whose secrets are unknown.
 */
export function redactAddresses(text: string): string {
  return text
    .replace(/([a-z][a-z0-9+.-]{0,31}:\/\/)[^\s"'<>/?#]{0,4096}@/gi, '$1[redacted]@')
    .replace(/([?&;][\w.-]{0,64}=)([^\s"'<>&#]{1,4096})/g, (pair: string, name: string) =>
      SECRET_NAME.test(name) ? `${name}[redacted]` : pair,
    )
}

/**
 * Copies an error so that it is safe to keep as a `cause`: libraries attach whole requests to theirs (`input`,
 * `request`). Two levels deep, because fetch hides the reason in `cause`.
 */
export function safeCause(cause: unknown, secrets: readonly string[], depth = 2): Error {
  const { message, name, code, inner } = readError(cause)
  const copy = new Error(
    redact(message, secrets),
    inner !== undefined && depth > 1 ? { cause: safeCause(inner, secrets, depth - 1) } : undefined,
  )
  copy.name = name
  // The copy's stack would be that of this function, which is misleading.
  delete copy.stack
  return code === undefined ? copy : Object.assign(copy, { code })
}

/**
 * The short reason of a failure: the message of the innermost error, plus its code if the message does not mention it.
 */
export function describeReason(cause: unknown): string {
  const { message, code, inner } = readError(cause)
  if (inner !== undefined) return describeReason(inner)
  return code === undefined || message.includes(code) ? message : `${code} ${message}`.trim()
}

function readError(cause: unknown): { message: string; name: string; code: string | undefined; inner: unknown } {
  if (!(cause instanceof Error)) return { message: String(cause), name: 'Error', code: undefined, inner: undefined }
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
  return { message: cause.message, name: cause.name, code, inner: cause.cause }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
