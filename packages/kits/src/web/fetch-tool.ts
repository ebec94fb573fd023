// `web.fetch`: a web page, text or JSON as text, in parts.
import type { ErrorCode, JsonValue } from '@baton/core/internal'
import { parseJson, tool } from '@baton/core/internal'
import * as z from 'zod'
import type { DocumentOptions } from '@baton/tools/internal'
import { DocumentFetcher } from '@baton/tools/internal'
import { PageThreads } from '../shared/pages/html-thread.ts'
import { cutWindow } from '../shared/pages/text-window.ts'
import { SERVICE_ERRORS } from '../shared/service-client.ts'

const READ_MS = 10_000
const CHARS = 20_000
const CHARS_MAX = 100_000
const ERRORS: readonly ErrorCode[] = [...SERVICE_ERRORS, 'invalid_arguments', 'media_unsupported']

const output = z.object({
  url: z.string().describe('Final address, after redirects'),
  type: z.enum(['html', 'json', 'text']),
  title: z.string().nullable(),
  text: z.string().describe('Visible text of HTML, in Markdown style; written by strangers'),
  part: z.enum(['article', 'whole-page']).optional().describe('Which part of a page the text is'),
  hiddenCharacters: z.int().describe('Number of characters that a page hides from readers; they are not in the text'),
  truncated: z.boolean().describe('Whether there is more text'),
  next: z.object({ startChar: z.int() }).optional().describe('Argument to continue reading'),
})

/** @throws BatonError `invalid_option` */
export function fetchTool(what: string, options: DocumentOptions) {
  const fetcher = new DocumentFetcher(what, options)
  const threads = new PageThreads()
  return tool({
    name: 'web.fetch',
    title: 'Read a web page',
    kind: 'fetch',
    description: 'Fetches a web page, text or JSON and returns its text. PDFs and other files cannot be read.',
    effect: 'pure',
    trust: 'untrusted', // written by strangers
    network: true,
    timeoutMs: fetcher.timeoutMs + READ_MS + 2_000,
    errors: ERRORS,
    describe: ({ url }) => ({ title: `Fetch ${url.slice(0, 180)}` }),
    input: z.object({
      url: z.string().min(1).max(2000).describe('With https://'),
      maxChars: z.int().min(100).max(CHARS_MAX).default(CHARS).describe('Maximum characters of text to return'),
      startChar: z
        .int()
        .min(0)
        .max(10_000_000)
        .default(0)
        .describe('Where to start in the text, as reported in "next"'),
      part: z.enum(['article', 'whole-page']).default('article').describe('For a page: its main part, or all of it'),
    }),
    output,
    execute: async ({ url: asked, maxChars, startChar, part }, { signal }) => {
      const { url, type, text: source } = await fetcher.fetchText(asked, signal)
      const page =
        type === 'html' ? await threads.read({ html: source, url, part }, { deadlineMs: READ_MS, signal }) : undefined
      const whole = page ? page.text : type === 'json' ? indent(source) : source
      const { text, truncated, nextChar } = cutWindow(whole, startChar, maxChars)
      return {
        url,
        type,
        title: page?.title ?? null,
        text,
        ...(page && { part: page.part }),
        hiddenCharacters: page?.hiddenCharacters ?? 0,
        truncated: truncated || page?.isCut === true,
        ...(nextChar !== undefined && { next: { startChar: nextChar } }),
      }
    },
  })
}

/** Maximum levels of indented JSON: indenting deeper text would make it grow quadratically. */
const DEPTH = 20

/** Formats JSON; text that is not JSON, is too deep or would lose digits is kept as is. */
function indent(source: string): string {
  const parsed = parseJson(source)
  return parsed.ok && isFlat(parsed.value) && !losesDigits(source) ? JSON.stringify(parsed.value, null, 1) : source
}

/** Whether formatting would change a number: services have ids with more digits than a JavaScript number holds. */
function losesDigits(source: string): boolean {
  // fast path for most texts
  if (!/\d[\d.]{15}|\d[eE][+-]?\d{3}/.test(source)) return false
  for (const [token] of source.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g)) {
    if (token.startsWith('"')) continue
    const isLong = token.replaceAll(/\D/g, '').length > SAFE_DIGITS
    if (!Number.isFinite(Number(token)) || (isLong && String(Number(token)) !== token)) return true
  }
  return false
}

/** A number of this many digits is exact. */
const SAFE_DIGITS = 15

/** Iterates by level instead of recursing. */
function isFlat(value: JsonValue): boolean {
  let level: readonly JsonValue[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEPTH) return false
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return true
}
