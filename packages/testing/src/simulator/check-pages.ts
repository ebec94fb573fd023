// Checks of pages once the world is at rest: they show what the log says, each message once, and no message is lost.
import type { ChatMessage } from '@baton/core/internal'
import type { SessionMessage } from '@baton/client'
import type { SimulatedWorld } from './simulated-world.ts'
import { SESSION } from './simulated-world.ts'
import type { SimulatedPage } from './simulated-page.ts'

/** Virtual milliseconds for a page to deliver its outbox and receive updates. */
const PATIENCE_MS = 120_000

/** Checks a world that has healed. @throws Error describing what is wrong */
export async function checkPages(world: SimulatedWorld): Promise<void> {
  const { pages, time } = world
  if (pages.length === 0) return
  await time.runUntil(time.nowMs() + PATIENCE_MS)
  const session = await world.host?.session(SESSION, { principal: { id: 'ann' } })
  if (!session) throw new Error('there is no host')
  const { messages } = await time.until(session.messages({ limit: 200 }))
  for (const [index, page] of pages.entries()) await checkPage(world, page, { messages, name: `page ${index + 1}` })
}

interface Expected {
  readonly messages: readonly ChatMessage[]
  readonly name: string
}

async function checkPage({ time }: SimulatedWorld, page: SimulatedPage, { messages, name }: Expected): Promise<void> {
  if (page.failure) throw page.failure
  const { status, isLoaded, messages: shown, error } = page.client.getSnapshot()
  if (status !== 'open' || !isLoaded) throw new Error(`${name} is ${status}, loaded: ${isLoaded}, ${error?.code ?? ''}`)
  const told = shown.filter((message) => !('delivery' in message && message.delivery !== undefined))
  const [is, should] = [told.map(describe), messages.slice(-told.length).map(describe)]
  if (told.length === 0 ? messages.length > 0 : JSON.stringify(is) !== JSON.stringify(should))
    throw new Error(`${name} shows\n${is.join('\n')}\nand not\n${should.join('\n')}`)
  const pending = shown.filter((message) => 'delivery' in message && message.delivery === 'pending')
  if (pending.length > 0) throw new Error(`${name} still has ${pending.length} messages that were not accepted`)
  await time.settle()
}

function describe(message: ChatMessage | SessionMessage): string {
  if (message.role === 'user') return `user ${message.id}`
  const steps = message.steps.map(
    ({ text, calls }) =>
      `${text} [${calls.map((call) => `${call.callId} ${call.status} ${call.result?.type}`).join()}]`,
  )
  return `${message.id} ${message.stop}: ${steps.join(' | ')}`
}
