// Gemini's other stream format: without `alt=sse` it answers with one JSON array whose elements arrive one at a time.
// Splits bytes into the text of each element, without interpreting it. A lone object counts as one element.
import { BatonError } from '@baton/core'

export interface JsonElementReader {
  /** @throws BatonError `model_malformed_answer` if the input is neither, or an element exceeds the size limit */
  push(bytes: Uint8Array): void
}

/** Maximum UTF-16 units of an element: 4 Mi, as for an event. */
const ELEMENT_LENGTH_MAX = 4 * 1024 * 1024

export function createJsonElementReader(
  onElement: (text: string) => void,
  elementLengthMax = ELEMENT_LENGTH_MAX,
): JsonElementReader {
  const decoder = new TextDecoder()
  let depth = 0
  let inString = false
  let isEscaped = false
  /** Text of the current element. */
  let pieces = ''
  const read = (char: string): boolean => {
    if (isEscaped) isEscaped = false
    else if (inString) {
      if (char === '\\') isEscaped = true
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    return depth === 0
  }
  return {
    push(bytes) {
      const text = decoder.decode(bytes, { stream: true })
      let start = 0
      for (let index = 0; index < text.length; index++) {
        const char = text.charAt(index)
        if (depth === 0) {
          start = index
          if (char === '{') depth = 1
          else if (!/[[\],\s\uFEFF]/.test(char))
            throw malformed(`expected the start of JSON, not ${JSON.stringify(char)}`)
        } else if (read(char)) {
          onElement(pieces + text.slice(start, index + 1))
          pieces = ''
        }
      }
      if (depth > 0) pieces += text.slice(start)
      if (pieces.length > elementLengthMax) throw malformed(`one element is longer than ${elementLengthMax} characters`)
    },
  }
}

function malformed(what: string): BatonError {
  return new BatonError({ code: 'model_malformed_answer', message: `could not read Gemini’s answer: ${what}` })
}
