// Tools that open another session of their host: whose it is, which one is refused, and what ends it.
import type { Session, ToolContext } from '@baton/core/internal'
import type { ScriptedModelOptions } from '@baton/core/testing'
import { expect } from 'vitest'
import type { ContractWorldOptions } from './host-kind.ts'
import { act, listCalls, resultsTold } from './situation-parts.ts'
import type { Situations, Stage } from './situation.ts'

/** Calls the tool when told to go, ends with `done`, hangs when told to wait, and answers anything else with `seven`. */
const steps: Extract<ScriptedModelOptions['steps'], (...given: never) => unknown> = ({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return { text: 'done' }
  const [part] = last?.parts ?? []
  const said = part?.type === 'text' ? part.text : ''
  if (said === 'wait') return { text: 'I think', hangs: 'until-aborted' }
  return said === 'go' ? listCalls('act') : { text: 'seven' }
}

async function delegateIn(
  { createWorld }: Stage,
  execute: (context: ToolContext) => unknown,
  more: Partial<ContractWorldOptions> = {},
) {
  const world = await createWorld({ tools: [act((_, context) => execute(context))], steps, ...more })
  const ann = { principal: { id: 'ann' } }
  return { world, session: await world.time.until(world.host.session(world.session, ann)) }
}

const codeOf = (cause: unknown): unknown => (cause as { readonly code?: unknown }).code

export const TOOL_SESSION_SITUATIONS: Situations = {
  'a tool asks another session of its host, which belongs to the principal of its call': async (stage) => {
    const { world, session } = await delegateIn(stage, async ({ openSession, session: own, signal }) => {
      const helper = await openSession(`${own}-helper`)
      const { text } = await helper.send('how many?', { signal }).answer
      const { principal, agent } = await helper.info()
      return `${text} for ${principal.id} by ${agent}`
    })
    expect((await world.time.until(session.send('go').answer)).text).toBe('done')
    expect(resultsTold(world.model)).toEqual([{ isError: false, text: 'seven for ann by tested' }])
    const helper = await world.time.until(world.host.session(`${world.session}-helper`, { principal: { id: 'ann' } }))
    expect((await helper.messages()).messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    const eve = { principal: { id: 'eve' } }
    await expect(world.host.session(helper.id, eve)).rejects.toMatchObject({ code: 'unauthorized' })
  },
  'a tool may name another principal and no id': async (stage) => {
    const { world, session } = await delegateIn(stage, async ({ openSession }) => {
      const helper = await openSession(undefined, { principal: { id: 'bob' }, description: { title: 'Help' } })
      const { principal, title } = await helper.info()
      return `${principal.id}: ${title}, ${helper.id === '' ? 'nameless' : 'named'}`
    })
    await world.time.until(session.send('go').answer)
    expect(resultsTold(world.model)).toEqual([{ isError: false, text: 'bob: Help, named' }])
  },
  'a tool cannot open the session that it runs in, nor one of somebody else': async (stage) => {
    const codes: unknown[] = []
    const { world, session } = await delegateIn(stage, async ({ openSession, session: own }) => {
      await openSession(`${own}-bob`).catch((cause: unknown) => codes.push(codeOf(cause)))
      await openSession(own)
    })
    const bob = await world.time.until(world.host.session(`${session.id}-bob`, { principal: { id: 'bob' } }))
    expect((await world.time.until(session.send('go').answer)).text).toBe('done')
    expect(codes).toEqual(['unauthorized'])
    const [told] = resultsTold(world.model)
    expect(told?.isError).toBe(true)
    expect(told?.text).toContain('its turn would wait for itself')
    await bob.close()
  },
  'when the run of a tool ends, its sessions are closed and it can open no more': async (stage) => {
    const kept: { readonly helper: Session; readonly context: ToolContext }[] = []
    const { world, session } = await delegateIn(stage, async (context) => {
      kept.push({ context, helper: await context.openSession(`${context.session}-helper`) })
    })
    await world.time.until(session.send('go').answer)
    const [left] = kept
    await expect(left?.helper.send('still there?').answer).rejects.toMatchObject({ code: 'session_closed' })
    await expect(left?.context.openSession('late')).rejects.toMatchObject({ code: 'cancelled' })
  },
  'a host that stops ends the session that a tool waits for': async (stage) => {
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<unknown>()
    const { world, session } = await delegateIn(stage, async ({ openSession, session: own }) => {
      const helper = await openSession(`${own}-helper`)
      const turn = helper.send('wait')
      turn.answer.catch((cause: unknown) => ended.resolve(codeOf(cause)))
      for await (const event of turn) if (event.type === 'text') begun.resolve()
    })
    session.send('go').answer.catch(() => {})
    await world.time.until(begun.promise)
    await world.time.until(world.host.stop())
    expect(await world.time.until(ended.promise)).toBe('session_closed')
  },
}
