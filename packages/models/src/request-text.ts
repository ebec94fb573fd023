// The body of a request as JSON, of which most was said in the request before.
import { createPrefixCache } from './prefix-cache.ts'

/** As JSON.stringify writes the body, but with the list of messages at the end. */
export type WriteRequest = <List extends string, Body extends { readonly [key in List]: readonly object[] }>(
  body: Body,
  list: List,
) => string

/** Written anew each time: the last message may go on, and both ends of the last step may bear a mark of the prompt cache. */
const UNSETTLED = 3

export function createWriteRequest(): WriteRequest {
  /** JSON texts of lists of messages, with a comma behind each. */
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
    // JSON leaves out what is undefined.
    const head = JSON.stringify({ ...body, [list]: undefined }).slice(0, -1)
    return `${head}${head === '{' ? '' : ','}${JSON.stringify(list)}:[${readText(body[list])}]}`
  }
}
