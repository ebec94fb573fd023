// Writes a request body as JSON, reusing what was written for the previous request.
import { createPrefixCache } from './prefix-cache.ts'

/** Like JSON.stringify, but with the list of messages at the end. */
export type WriteRequest = <List extends string, Body extends { readonly [key in List]: readonly object[] }>(
  body: Body,
  list: List,
) => string

/**
 * Trailing messages that are never cached: the last one may continue, and both ends of the last step may carry a prompt
 * cache mark.
 */
const UNSETTLED = 3

export function createWriteRequest(): WriteRequest {
  /** JSON of message lists, with a comma after each message. */
  const texts = createPrefixCache<object, string>()
  const readText = (messages: readonly object[]): string => {
    const settled = messages.slice(0, -UNSETTLED)
    const known = texts.take(settled)
    let text = known?.value ?? ''
    for (const message of settled.slice(known?.items.length ?? 0)) text += `${JSON.stringify(message)},`
    texts.keep({ items: settled, value: text })
    return (
      text +
      messages
        .slice(settled.length)
        .map((message) => JSON.stringify(message))
        .join(',')
    )
  }
  return (body, list) => {
    // JSON omits `undefined` values.
    const head = JSON.stringify({ ...body, [list]: undefined }).slice(0, -1)
    return `${head}${head === '{' ? '' : ','}${JSON.stringify(list)}:[${readText(body[list])}]}`
  }
}
