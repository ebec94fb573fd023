// Reads streamed reasoning: in `reasoning_content` or `reasoning` (one of them, alternating, or the same text in both),
// or as OpenRouter's `reasoning_details` or the `thinking_blocks` of Claude behind LiteLLM's proxy, which go back
// unchanged.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { readText } from '../json-fields.ts'

const FIELDS = ['reasoning_content', 'reasoning'] as const

export class ReasoningDraft {
  text = ''
  /** The first field that had text. */
  field: (typeof FIELDS)[number] | undefined
  /** All text of the other field, while it only repeats the first one. */
  #repeated = ''
  #takesTurns = false
  readonly details: JsonObject[] = []
  /** Blocks that repeat the fields' text, with Claude's signatures. */
  readonly blocks: JsonObject[] = []

  /** Applies a delta and returns the new text. */
  push(delta: JsonObject): string {
    const details = Array.isArray(delta['reasoning_details']) ? delta['reasoning_details'] : []
    let fromDetails = ''
    for (const detail of details as readonly JsonValue[]) {
      if (!isJsonObject(detail)) continue
      fromDetails += textOfDetail(detail)
      this.#addDetail(detail)
    }
    const blocks = Array.isArray(delta['thinking_blocks']) ? delta['thinking_blocks'] : []
    for (const block of blocks as readonly JsonValue[]) if (isJsonObject(block)) this.#addBlock(block)
    const text = this.#textOfFields(delta)
    const added = text === undefined ? fromDetails : text
    this.text += added
    return added
  }

  get isEmpty(): boolean {
    return this.text === '' && this.details.length === 0 && this.blocks.length === 0
  }

  /** State that goes back to the server with the message. */
  get data(): JsonObject | undefined {
    if (this.details.length === 0 && this.blocks.length === 0 && this.field === undefined) return undefined
    return {
      ...(this.field !== undefined && { field: this.field }),
      ...(this.details.length > 0 && { reasoning_details: this.details.map((detail) => ({ ...detail })) }),
      ...(this.blocks.length > 0 && { thinking_blocks: this.blocks.map((block) => ({ ...block })) }),
    }
  }

  #textOfFields(delta: JsonObject): string | undefined {
    const given = FIELDS.filter((field) => readText(delta, field) !== '')
    const [first] = given
    if (first === undefined) return undefined
    this.field ??= first
    const other = given.find((field) => field !== this.field)
    const isOwn = given.includes(this.field)
    if (other === undefined || this.#takesTurns) return readText(delta, isOwn ? this.field : first)
    this.#repeated += readText(delta, other)
    if (isOwn) return readText(delta, this.field)
    if (this.text.startsWith(this.#repeated)) return ''
    this.#takesTurns = true
    return readText(delta, other)
  }

  /** A thinking block arrives in pieces until its signature ends it; a redacted one arrives whole. */
  #addBlock(block: JsonObject): void {
    const last = this.blocks.at(-1)
    if (last?.['type'] !== 'thinking' || block['type'] !== 'thinking' || readText(last, 'signature') !== '') {
      this.blocks.push(block)
      return
    }
    const thinking = readText(last, 'thinking') + readText(block, 'thinking')
    this.blocks[this.blocks.length - 1] = { ...last, ...block, thinking }
  }

  /** Text arrives in pieces, the signature with one of them; encrypted details arrive whole. */
  #addDetail(detail: JsonObject): void {
    const last = this.details.at(-1)
    const isSame = last !== undefined && last['type'] === detail['type'] && last['index'] === detail['index']
    const field = TEXT_FIELDS[typeof detail['type'] === 'string' ? detail['type'] : '']
    if (!isSame || field === undefined) {
      this.details.push(detail)
      return
    }
    const given = Object.entries(detail).filter(([, value]) => value !== null)
    const text = readText(last, field) + readText(detail, field)
    this.details[this.details.length - 1] = { ...last, ...Object.fromEntries(given), [field]: text }
  }
}

const TEXT_FIELDS: Readonly<Record<string, string | undefined>> = {
  'reasoning.text': 'text',
  'reasoning.summary': 'summary',
}

function textOfDetail(detail: JsonObject): string {
  const field = TEXT_FIELDS[typeof detail['type'] === 'string' ? detail['type'] : '']
  return field === undefined ? '' : readText(detail, field)
}
