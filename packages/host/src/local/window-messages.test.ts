// The window's limit on messages, as a program sees it.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createHost } from './create-host.ts'

test.each([false, true])(
  'messages that the window may not hold leave, and the turn says why; summaries: %s',
  async (summarise) => {
    const model = createScriptedModel({ steps: () => ({ text: 'Yes.' }) })
    const agent = defineAgent({ name: 'a', model, window: { messages: 4, summarise, keepExchanges: 1 } })
    const host = createHost({ agent })
    const session = await host.session('s')
    expect((await session.send('one').answer).limits).toEqual([])
    expect((await session.send('two').answer).limits).toEqual([])
    const turn = session.send('three')
    const told: unknown[] = []
    for await (const event of turn) if (event.type === 'limit') told.push({ ...event, cursor: undefined })
    expect(told).toEqual([{ type: 'limit', limit: 'messages', max: 4, reached: true, cursor: undefined }])
    expect(await turn.answer).toMatchObject({ limits: ['messages'], forgotten: true })
    const read = JSON.stringify(model.requests.at(-1)?.messages)
    expect(read).not.toContain('"one"')
    expect(read).toContain('"three"')
    // The log keeps everything.
    expect((await session.messages()).messages).toHaveLength(6)
    await host.stop()
  },
)
