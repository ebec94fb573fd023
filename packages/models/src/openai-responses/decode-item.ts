// One item of an answer: its streamed content so far, and the final item. It is done only once the server has sent it
// whole; for a call, only that final version counts.
import type { JsonObject, ModelPart, ProviderState } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type { FoundSource } from '../found-sources.ts'
import { readSource } from '../found-sources.ts'
import { asList, listObjects, readPartText, readText } from '../json-fields.ts'
import { growCumulative, isNothing, readGivenArguments, readMeantArguments } from '../meant-arguments.ts'

export interface PartOptions {
  readonly state: (data: JsonObject) => ProviderState
  readonly readName: (wire: string) => string
}

export type ItemType = 'message' | 'reasoning' | 'function_call' | 'other'

export class ItemDraft {
  readonly type: ItemType
  /** Position among the answer's calls; set only for calls. */
  readonly call: number | undefined
  isDone = false
  isRefused = false
  /** The item as started, then as finished. */
  item: JsonObject
  /** Streamed text, reasoning or arguments. */
  streamed = ''
  /** The latest piece of the arguments, while each piece starts with the previous one. */
  cumulative: string | undefined = ''
  /** The complete arguments, from the event that ends their deltas. */
  told: string | undefined

  constructor(item: JsonObject, call: number | undefined) {
    this.type = readType(item)
    this.call = call
    this.item = item
  }

  get name(): string {
    return readText(this.item, 'name')
  }

  /** Adds a streamed piece. */
  add(text: string): void {
    this.streamed += text
    this.cumulative = growCumulative(this.cumulative, text)
  }

  /** Closes the item and returns the part that was not streamed. */
  close(item: JsonObject): string {
    this.isDone = true
    // Some servers leave the name and the id of a call out at its end.
    const kept = this.type === 'function_call' ? pickKept(this.item, item) : {}
    this.item = { ...item, ...kept }
    this.isRefused ||= said(item).some(({ isRefusal }) => isRefusal)
    const whole = this.whole()
    return whole.startsWith(this.streamed) ? whole.slice(this.streamed.length) : ''
  }

  /** Whether an item at the same place is a new one: servers give two items the same place. */
  isFollowedBy(item: JsonObject): boolean {
    if (!this.hasTypeOf(item)) return true
    if (!this.isDone) return false
    return !this.hasIdOf(item) && !this.says(item)
  }

  hasTypeOf(item: JsonObject): boolean {
    return this.item['type'] === item['type']
  }

  /** A call's id is its `call_id`, which its result refers to. */
  hasIdOf(item: JsonObject): boolean {
    const field = this.type === 'function_call' ? 'call_id' : 'id'
    return this.hasTypeOf(item) && readText(this.item, field) !== '' && this.item[field] === item[field]
  }

  /** Whether a finished item is this one, although it has another place. */
  isEndedBy(item: JsonObject): boolean {
    if (this.isDone) return false
    // Text without an item began this one.
    return this.hasIdOf(item) || (this.item['id'] === undefined && this.type === 'message' && this.says(item))
  }

  /** Whether an item of the same kind has the same content, or continues where this one was cut off. */
  says(item: JsonObject): boolean {
    if (!this.hasTypeOf(item) || readText(item, 'name') !== this.name) return false
    const whole = new ItemDraft(item, undefined).whole()
    return this.isDone ? whole === this.whole() : whole.startsWith(this.streamed)
  }

  /** Whether the item is done but marked incomplete by the server. */
  get isBroken(): boolean {
    return this.item['status'] === 'incomplete'
  }

  parts({ state, readName }: PartOptions): readonly ModelPart[] {
    switch (this.type) {
      case 'message':
        return this.#texts().map(({ text, data }) => ({ type: 'text', text, ...(data && { state: state(data) }) }))
      case 'reasoning':
        return this.#thoughts(state)
      case 'function_call':
        return [this.#callPart(state, readName)]
      case 'other':
        return this.isDone ? [{ type: 'provider', state: state({ item: this.item }) }] : []
    }
  }

  /** Sources that its texts cite (`url_citation`, `file_citation`). */
  sources(): readonly FoundSource[] {
    if (this.type !== 'message' || !this.isDone) return []
    return listObjects(this.item['content']).flatMap((part) => {
      const text = readText(part, 'text')
      return listObjects(part['annotations']).map((one) => {
        const [start, end] = [one['start_index'], one['end_index']]
        const quote = typeof start === 'number' && typeof end === 'number' ? text.slice(start, end) : undefined
        return readSource({ url: one['url'], title: one['title'] ?? one['filename'], quote })
      })
    })
  }

  whole(): string {
    switch (this.type) {
      case 'message':
        return said(this.item)
          .map(({ text }) => text)
          .join('')
      case 'reasoning':
        // The visible reasoning in order; a server may show a summary, the reasoning, or both.
        return this.streamed === '' ? thoughtIn(this.item) : this.streamed
      case 'function_call':
        return this.#arguments()
      case 'other':
        return ''
    }
  }

  /** The finished arguments, unless they are empty and others were streamed. */
  #arguments(): string {
    const given = argumentsIn(this.item)
    return isNothing(given) && !isNothing(this.streamed) ? this.streamed : given || this.streamed
  }

  #texts(): readonly { readonly text: string; readonly data: JsonObject | undefined }[] {
    const whole = this.isDone ? said(this.item) : []
    // Some servers end an item without its content.
    const pieces = whole.some(({ text }) => text !== '') ? whole : [{ text: this.streamed, isRefusal: this.isRefused }]
    const phase = readText(this.item, 'phase')
    return pieces.flatMap(({ text, isRefusal }) => {
      if (text === '') return []
      const data = { ...(phase !== '' && { phase }), ...(isRefusal && { refusal: true }) }
      return [{ text, data: Object.keys(data).length > 0 ? data : undefined }]
    })
  }

  #thoughts(state: PartOptions['state']): readonly ModelPart[] {
    const { summary, encrypted_content: encrypted } = this.item
    const isOwned = this.isDone && typeof encrypted === 'string' && encrypted !== ''
    const text = this.whole()
    if (text === '' && !isOwned) return []
    const data = isOwned && { state: state({ summary: summary ?? [], encrypted_content: encrypted }) }
    return [{ type: 'reasoning', text, ...data }]
  }

  #callPart(state: PartOptions['state'], readName: PartOptions['readName']): ModelPart {
    const { type: _, id: __, status: ___, name: ____, arguments: _____, call_id: callId, ...extra } = this.item
    const data = {
      ...(typeof callId === 'string' && callId !== '' && { id: callId }),
      ...(Object.keys(extra).length > 0 && { extra }),
    }
    const given = this.isDone ? this.whole() : this.streamed
    const { text, repair } = readMeantArguments({
      text: given,
      ...(given === this.streamed && { cumulative: this.cumulative }),
    })
    // An empty string in a finished item means no arguments; if the field is missing, they are lost.
    const isNone = text === '' && this.isDone && this.item['arguments'] !== undefined
    return {
      type: 'call',
      name: this.name === '' ? '' : readName(this.name),
      arguments: isNone ? '{}' : text,
      ...(repair !== undefined && { repairs: [repair] }),
      ...(Object.keys(data).length > 0 && { state: state(data) }),
    }
  }
}

function readType({ type }: JsonObject): ItemType {
  return type === 'message' || type === 'reasoning' || type === 'function_call' ? type : 'other'
}

interface Said {
  readonly text: string
  readonly isRefusal: boolean
}

function said(item: JsonObject): readonly Said[] {
  if (item['type'] !== 'message') return []
  const { content } = item
  return (typeof content === 'string' ? [content] : asList(content)).map((part) =>
    isJsonObject(part) && part['type'] === 'refusal'
      ? { text: readText(part, 'refusal'), isRefusal: true }
      : { text: readPartText(part), isRefusal: false },
  )
}

function thoughtIn(item: JsonObject): string {
  const summary = listObjects(item['summary']).map((part) => readText(part, 'text'))
  if (summary.length > 0) return summary.join('\n\n')
  return listObjects(item['content'])
    .map((part) => readText(part, 'text'))
    .join('')
}

/** Some servers send a value instead of a string. */
function argumentsIn(item: JsonObject): string {
  return readGivenArguments(item['arguments']) ?? ''
}

function pickKept(begun: JsonObject, done: JsonObject): JsonObject {
  const missing = ['name', 'call_id'].filter((field) => readText(done, field) === '' && readText(begun, field) !== '')
  return Object.fromEntries(missing.map((field) => [field, readText(begun, field)]))
}
