// Controls of a session in this process: go back, copy, list tools and usage, answer questions.
import type { Agent, ChatMessage, Session, Usage } from '@baton/core/internal'
import { addUsage, BatonError, readText } from '@baton/core/internal'
import type { ConversationTurn, SessionControls } from '../terminal/conversation.ts'

/** Messages per page. */
const PAGE = 200

export function createSessionControls(session: Session, agent: Agent): SessionControls {
  return {
    retry: async () => {
      const last = await findLast(session, 'assistant')
      return await rewind(session, { message: last.id, again: true })
    },
    undo: async () => {
      const last = await findLast(session, 'user')
      await session.rewind({ message: last.id })
      return last.role === 'user' ? readText(last.parts) : ''
    },
    fork: () => session.fork(),
    tools: () => agent.tools.map(describeTool),
    status: async () => {
      const { model, context } = await session.info()
      return { model, context }
    },
    usage: async () => {
      let usage: Usage | undefined
      for (const message of await listMessages(session))
        if (message.role === 'assistant' && message.usage) usage = addUsage(usage, message.usage)
      return usage ?? {}
    },
    answer: async (answer) => void (await session.answer(answer)),
  }
}

/** @throws BatonError `unknown_input` if there is no message yet */
async function findLast(session: Session, role: ChatMessage['role']): Promise<ChatMessage> {
  const { messages } = await session.messages({ limit: PAGE })
  const last = messages.findLast((message) => message.role === role)
  if (last) return last
  throw new BatonError({
    code: 'unknown_input',
    message: 'this session has no messages yet',
    hint: 'Send a message first.',
  })
}

async function rewind(session: Session, at: Parameters<Session['rewind']>[0]): Promise<ConversationTurn> {
  const { turn } = await session.rewind(at)
  if (turn === undefined) throw new BatonError({ code: 'unknown_input', message: 'there is nothing to answer again' })
  return session.turn(turn)
}

async function listMessages(session: Session): Promise<readonly ChatMessage[]> {
  const all: ChatMessage[] = []
  let page = await session.messages({ limit: PAGE })
  all.unshift(...page.messages)
  while (page.more && all[0]) {
    page = await session.messages({ limit: PAGE, before: all[0].id })
    all.unshift(...page.messages)
  }
  return all
}

function describeTool({ name, description, execute, approval, effect }: Agent['tools'][number]): string {
  const notes = [effect, !execute && 'run by you', approval !== false && 'needs approval']
  return `${name} (${notes.filter((note) => note !== false).join(', ')}): ${description}`
}
