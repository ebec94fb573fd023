// Asks an MCP server's question during a call as a question of the tool's call, and converts the answer.
import type { JsonObject, ToolContext } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'
import { cutText } from '../shared/platform.ts'

/** Maximum characters of a question; the rest is cut. */
const MESSAGE_CHARS = 3_000
/** Maximum characters of a question with an address. */
const PAGE_MESSAGE_CHARS = 1_500
/** Maximum characters of an address. Addresses are never cut: half an address leads elsewhere. */
const PAGE_CHARS = 2_000

/**
 * `decline`: a person declined. `cancel`: no one answered in time, or there is no one to ask.
 * @throws BatonError `api_malformed` for an address that is not on the web; other errors of `context.ask`
 */
export async function answerElicitation(
  server: string,
  params: ElicitRequest['params'],
  context: Pick<ToolContext, 'ask'>,
): Promise<ElicitResult> {
  const isPage = params.mode === 'url'
  const page = isPage ? readPage(server, params.url) : undefined
  // The question begins with the server's name: the server chooses the words and may pretend to be another one.
  const said = cutText(params.message, page ? PAGE_MESSAGE_CHARS : MESSAGE_CHARS)
  // The host is shown separately, because a long address can look like another site's.
  const where = page ? `\nThe page is on ${page.host}: ${page.href}` : ''
  const message = `The MCP server "${server}" asks: ${said}${where}`
  const schema = isPage ? { type: 'object', properties: {} } : (params.requestedSchema as JsonObject) // parsed from JSON
  try {
    const answer = (await context.ask({ message, schema })) as JsonObject // an object, by its schema
    return isPage ? { action: 'accept' } : { action: 'accept', content: answer as NonNullable<ElicitResult['content']> }
  } catch (thrown) {
    if (!isBatonError(thrown) || thrown.code !== 'question_declined') throw thrown
    return { action: thrown.data?.['declined'] === 'person' ? 'decline' : 'cancel' }
  }
}

/** People are shown only web addresses, in full. Credentials in an address could hide its host. */
function readPage(server: string, text: unknown): URL {
  const url = typeof text === 'string' ? URL.parse(text) : null
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (url && isWeb && url.username === '' && url.password === '' && url.href.length <= PAGE_CHARS) return url
  throw new BatonError({
    code: 'api_malformed',
    message: `MCP server "${server}" asks the user to open an address that is not on the web, contains credentials, or has more than ${PAGE_CHARS} characters`,
  })
}
