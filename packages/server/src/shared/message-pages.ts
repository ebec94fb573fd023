// Reads a conversation page by page, from its end. A rewind may take back the message where the next page ends, and then
// the reading begins again.
import type { MessagesPage, Session } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'

export interface PageFromEnd extends MessagesPage {
  /** Whether it is the end of the conversation; then earlier pages no longer count. */
  readonly isNewest: boolean
}

/** The most messages of a page. */
const PAGE = 200
/** Times that the reading begins again. */
export const PAGE_RESTARTS = 10

/** @throws BatonError `store_failed`, `log_damaged`; `invalid_option` if the conversation is taken back all the time */
export async function* readPages(
  session: Pick<Session, 'messages'>,
  limit = PAGE,
): AsyncGenerator<PageFromEnd, undefined> {
  let before: string | undefined
  for (let restarts = 0; ;) {
    try {
      const page = await session.messages({ limit, ...(before !== undefined && { before }) })
      yield { ...page, isNewest: before === undefined }
      before = page.messages[0]?.id
      if (!page.more || before === undefined) return
    } catch (cause) {
      const isGone = before !== undefined && isBatonError(cause) && cause.code === 'invalid_option'
      if (!isGone || restarts === PAGE_RESTARTS) throw cause
      restarts += 1
      before = undefined
    }
  }
}
