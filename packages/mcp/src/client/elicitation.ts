// A question of an MCP server in mid-call, asked as a question of the tool's call, and its answer in the server's words.
import type { JsonObject, ToolContext } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'
import { cutText } from '../shared/platform.ts'

/** Characters of a question that people read; the rest is cut. */
const MESSAGE_CHARS = 3_000
/** The same beside an address. */
const PAGE_MESSAGE_CHARS = 1_500
/** Characters of an address. Baton does not cut it: half an address leads elsewhere. */
const PAGE_CHARS = 2_000

/**
 * `decline`: a person said no. `cancel`: nobody answered in time, or nobody can be asked.
 * @throws BatonError `api_malformed` for a page that is not on the web; other errors of `context.ask`
 */
export async function answerElicitation(
  server: string,
  params: ElicitRequest['params'],
  context: Pick<ToolContext, 'ask'>,
): Promise<ElicitResult> {
  const isPage = params.mode === 'url'
  const page = isPage ? readPage(server, params.url) : undefined
  // The server's name comes first: the server chooses the words, and may write them in another's name.
  const said = cutText(params.message, page ? PAGE_MESSAGE_CHARS : MESSAGE_CHARS)
  // The host stands by itself, because a long address can look like another site's.
  const where = page ? `\nThe page is on ${page.host}: ${page.href}` : ''
  const message = `The MCP server "${server}" asks: ${said}${where}`
  const schema = isPage ? { type: 'object', properties: {} } : (params.requestedSchema as JsonObject) // it came as JSON
  try {
    const answer = (await context.ask({ message, schema })) as JsonObject // the schema's root is an object
    return isPage ? { action: 'accept' } : { action: 'accept', content: answer as NonNullable<ElicitResult['content']> }
  } catch (thrown) {
    if (!isBatonError(thrown) || thrown.code !== 'question_declined') throw thrown
    return { action: thrown.data?.['declined'] === 'person' ? 'decline' : 'cancel' }
  }
}

/** People see only web addresses, and see them whole. A login in an address could hide its host. */
function readPage(server: string, text: unknown): URL {
  const url = typeof text === 'string' ? URL.parse(text) : null
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (url && isWeb && url.username === '' && url.password === '' && url.href.length <= PAGE_CHARS) return url
  throw new BatonError({
    code: 'api_malformed',
    message: `MCP server "${server}" asks the user to open a page whose address is not on the web, contains a login, or has more than ${PAGE_CHARS} characters`,
  })
}
