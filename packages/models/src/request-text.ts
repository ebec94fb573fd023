// The body of a request as JSON, of which most was said in the request before.
import { createPrefixCache } from './prefix-cache.ts'

/** As JSON.stringify writes the body, but with the list of messages at the end. */
export type WriteRequest = <List extends string, Body extends { readonly [key in List]: readonly object[] }>(
  body: Body,
  list: List,
) => string

export function createWriteRequest(): WriteRequest {
  /** Of lists of messages, the texts, with a comma behind each. */
  const texts = createPrefixCache<object, string>()
  /** The last message is written anew each time: it may go on, or bear a mark. */
  const readText = (messages: readonly object[]): string => {
    const settled = messages.slice(0, -1)
    const known = texts.take(settled)
    let text = known?.value ?? ''
    for (const message of settled.slice(known?.items.length ?? 0)) text += `${JSON.stringify(message)},`
    texts.keep({ items: settled, value: text })
    const last = messages.at(-1)
    return last ? text + JSON.stringify(last) : text
  }
  return (body, list) => {
    const { [list]: messages, ...rest } = body
    return `${JSON.stringify({ ...rest, [list]: [] }).slice(0, -2)}${readText(messages)}]}`
  }
}
