// A question of an MCP server in mid-call, asked as a question of the tool's call, and its answer in the server's words.
import type { JsonObject, ToolContext } from '@baton/core'
import { isBatonError } from '@baton/core'
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'

/** Characters of a question that people read; the rest is cut. */
const MESSAGE_CHARS = 3_000

/**
 * `decline`: a person said no. `cancel`: nobody answered in time, or nobody can be asked.
 * @throws BatonError what else `context.ask` throws
 */
export async function answerElicitation(
  server: string,
  params: ElicitRequest['params'],
  context: Pick<ToolContext, 'ask'>,
): Promise<ElicitResult> {
  const isPage = params.mode === 'url'
  // Who asks stands first: the server chooses the words, and may write them in another's name.
  const said = `${params.message.slice(0, MESSAGE_CHARS)}${isPage ? `\n${params.url.slice(0, 500)}` : ''}`
  const message = `The MCP server "${server}" asks: ${said}`
  const schema = isPage ? { type: 'object', properties: {} } : (params.requestedSchema as JsonObject) // it came as JSON
  try {
    const answer = (await context.ask({ message, schema })) as JsonObject // the schema's root is an object
    return isPage ? { action: 'accept' } : { action: 'accept', content: answer as NonNullable<ElicitResult['content']> }
  } catch (thrown) {
    if (!isBatonError(thrown) || thrown.code !== 'question_declined') throw thrown
    return { action: thrown.data?.['declined'] === 'person' ? 'decline' : 'cancel' }
  }
}
