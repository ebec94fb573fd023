// Detects secrets in text: private keys, and tokens recognizable by their prefix. Uses the rules of secretlint, which
// track providers' formats, plus a few formats that it lacks.
import { lintSource } from '@secretlint/core'
import { creator } from '@secretlint/secretlint-rule-preset-recommend'

/** Characters checked at once; that many take about 15 ms. */
export const WINDOW_CHARS = 1024 * 1024
/** Characters shared by adjacent windows: no key is longer. */
export const OVERLAP_CHARS = 16 * 1024

const MORE_FORMS: readonly RegExp[] = [
  // RFC 7468, with headers as of RFC 1421; also if line ends are written as \\n
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^]{0,400}?[A-Za-z0-9+/]{48}/,
  // https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
  /(?<![A-Za-z0-9/+])(?:AKIA|ASIA)(?![A-Z2-7]{9}EXAMPLE)[A-Z2-7]{16}(?![A-Za-z0-9/+=])/,
  // https://docs.stripe.com/keys
  /(?<![A-Za-z0-9])(?:sk|rk)_live_[A-Za-z0-9]{20,}/,
  // https://cloud.google.com/docs/authentication/api-keys
  /(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/,
  // https://huggingface.co/docs/hub/security-tokens
  /(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}/,
  // https://platform.openai.com/docs/api-reference/authentication
  /(?<![A-Za-z0-9])sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}/,
  // OpenRouter, https://openrouter.ai/docs/api-reference/authentication
  /(?<![A-Za-z0-9])sk-or-v1-[0-9a-f]{32,}/,
  // OpenAI before projects (48 letters and digits), DeepSeek (32 of hex)
  /(?<![A-Za-z0-9_-])sk-(?:[A-Za-z0-9]{48}|[0-9a-f]{32})(?![A-Za-z0-9])/,
  // xAI, Groq, Cerebras, Fireworks, Perplexity
  /(?<![A-Za-z0-9])(?:xai-|gsk_|csk-|fw_|pplx-)(?=[A-Za-z0-9]*[0-9])[A-Za-z0-9]{20,}/,
  // Cursor, https://docs.cursor.com/account/teams/admin-api
  /(?<![A-Za-z0-9_])key_[0-9a-f]{40,}/,
  // A key without a recognizable format (Mistral, Together, Azure), under the name of its variable
  /(?<![A-Z0-9_])[A-Z][A-Z0-9_]{0,64}_(?:API_KEY|API_TOKEN|ACCESS_TOKEN|SECRET_KEY)["']?\s*[:=]\s*["']?(?=[A-Za-z0-9_-]*[0-9])(?=[A-Za-z0-9_-]*[a-zA-Z])[A-Za-z0-9_-]{28,}/,
  // RFC 6750
  /authorization["']?\s*[:=]\s*["']?bearer\s+(?=[A-Za-z0-9._~+/-]*[0-9])[A-Za-z0-9._~+/-]{20,}/i,
  // A password in an address, except placeholder words
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@'"`<>{}$]{1,64}:(?=[^\s:/@]*[0-9])(?=[^\s:/@]*[a-zA-Z])[^\s:/@'"`<>{}$*%]{8,128}@(?!(?:localhost|127\.|\[::1\]|[\w.-]*example\b|host\b))/i,
  // https://age-encryption.org/v1
  /AGE-SECRET-KEY-1[A-Z0-9]{50,}/,
  // https://the.earth.li/~sgtatham/putty/latest/htmldoc/AppendixC.html
  /^PuTTY-User-Key-File-[1-9]:/m,
  // https://github.com/docker/cli: `docker login` without a credential store
  /"auths"\s*:\s*\{[^{}]{0,200}\{[^{}]{0,2000}"auth"\s*:\s*"[A-Za-z0-9+/]{8,}={0,2}"/,
]

/** Checks at most `WINDOW_CHARS` of the text. */
export async function holdsSecret(text: string): Promise<boolean> {
  const content = text.slice(0, WINDOW_CHARS)
  return MORE_FORMS.some((form) => form.test(content)) || (await lint(content)).length > 0
}

export interface SecretPlace {
  /** UTF-16 offsets, from `start` up to, but not including, `end`. */
  readonly start: number
  readonly end: number
}

/**
 * Positions of keys and tokens: the first match of each format here, and all of secretlint's. Checks at most
 * `WINDOW_CHARS`.
 */
export async function findSecrets(text: string): Promise<readonly SecretPlace[]> {
  const content = text.slice(0, WINDOW_CHARS)
  const own = MORE_FORMS.flatMap((form) => {
    const match = form.exec(content)
    return match ? [{ start: match.index, end: match.index + match[0].length }] : []
  })
  const others = (await lint(content)).map(({ range: [start, end] }) => ({ start, end }))
  return [...own, ...others.filter((one) => !own.some(({ start, end }) => one.start < end && start < one.end))]
}

async function lint(content: string) {
  const { messages } = await lintSource({
    source: { content, filePath: 'file.txt', ext: '.txt', contentType: 'text' },
    options: { noPhysicFilePath: true, config: { rules: [{ id: RULES, rule: creator }] } },
  })
  return messages.filter(({ ruleId }) => !IN_SOURCES.has(ruleId))
}

const RULES = '@secretlint/secretlint-rule-preset-recommend'

/** Passwords in addresses: documents and tests are full of invented ones, and an example is not a secret. */
const IN_SOURCES: ReadonlySet<string> = new Set([
  '@secretlint/secretlint-rule-basicauth',
  '@secretlint/secretlint-rule-database-connection-string',
])

/** Checks a text of any length. */
export async function textHoldsSecret(text: string): Promise<boolean> {
  for (let start = 0; start < text.length; start += WINDOW_CHARS - OVERLAP_CHARS)
    if (await holdsSecret(text.slice(start, start + WINDOW_CHARS))) return true
  return false
}

/** Checks a text that arrives in pieces. */
export class SecretScan {
  #window = ''

  /** Whether the text so far contains a secret; a piece may be checked together with a later one. */
  async take(piece: string): Promise<boolean> {
    this.#window += piece
    return this.#window.length >= WINDOW_CHARS && (await this.judge())
  }

  /** Checks the text not yet checked. */
  async judge(): Promise<boolean> {
    const found = await textHoldsSecret(this.#window)
    this.#window = this.#window.slice(-OVERLAP_CHARS)
    return found
  }
}
