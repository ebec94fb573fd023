// Results of calls that a chat has folded into one line each, to be shown in full later.
import type { CallResult } from '@baton/core/internal'
import { parseJson } from '@baton/core/internal'

export interface ShownCalls {
  /** Stores the result, and returns the text for its line. */
  add(name: string, result: Extract<CallResult, { readonly type: 'ok' }>): string
  /** Finds a call by its number, or the newest one; `undefined` if there is none, or it was too long ago. */
  find(number: number | undefined): ShownCall | undefined
}

export interface ShownCall {
  readonly number: number
  readonly name: string
  readonly text: string
}

/** Maximum number of results, and characters of all of them. */
const CALLS_MAX = 200
const CHARS_MAX = 4 * 1024 * 1024
/** Characters up to which a result is shown in the line itself. */
const SHORT_CHARS = 60

export function createShownCalls(): ShownCalls {
  const calls: ShownCall[] = []
  let count = 0
  let chars = 0
  return {
    add: (name, { content }) => {
      const text = content
        .map((part) => (part.type === 'text' ? lay(part.text) : `[${part.type} ${part.mediaType}]`))
        .join('\n')
      count += 1
      chars += text.length
      calls.push({ number: count, name, text })
      while (calls.length > CALLS_MAX || (chars > CHARS_MAX && calls.length > 1))
        chars -= calls.shift()?.text.length ?? 0
      const flat = content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' ')
      if (flat.trim() === '') return ''
      if (flat.length <= SHORT_CHARS && !flat.includes('\n')) return `: ${flat}`
      const lines = text.split('\n').length
      return ` (${lines} ${lines === 1 ? 'line' : 'lines'}, /show ${count})`
    },
    find: (number) => (number === undefined ? calls.at(-1) : calls.find((call) => call.number === number)),
  }
}

/** Formats JSON in lines; other text is returned as is. */
function lay(text: string): string {
  if (!/^\s*[{[]/.test(text)) return text
  const parsed = parseJson(text)
  return parsed.ok ? JSON.stringify(parsed.value, undefined, 2) : text
}
