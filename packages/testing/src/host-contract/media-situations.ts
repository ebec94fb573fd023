// Content other than text: records hold handles, models get the bytes, and a failing store rejects whole inputs.
import type { ImagePart, Message } from '@baton/core/internal'
import { expect } from 'vitest'
import { act, listCalls, resultsTold, textsTold } from './situation-parts.ts'
import type { Situations } from './situation.ts'

const PICTURE: ImagePart = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'AAAA' } }

export const MEDIA_SITUATIONS: Situations = {
  'a tool and an approval read the conversation that led to the call, with its pictures, and cannot change it': async ({
    createWorld,
  }) => {
    const read: (readonly Message[])[] = []
    const ids: string[] = []
    const tools = [
      act(() => ({ content: [PICTURE] }), { name: 'draw' }),
      act(
        async (_input, { callId, messages }) => {
          ids.push(callId)
          const told = await messages()
          read.push(structuredClone(told))
          for (const message of told) Object.assign(message.parts[0] ?? {}, { text: 'changed' })
          return told.length
        },
        {
          approval: async (_input, { callId, messages }) => {
            ids.push(callId)
            read.push(await messages())
            return false
          },
        },
      ),
    ]
    const world = await createWorld({ tools, steps: [listCalls('draw'), listCalls('act'), { text: 'done' }] })
    const session = await world.open()
    await world.time.until(session.send([PICTURE, { type: 'text', text: 'Look.' }]).answer)
    expect(new Set(ids).size).toBe(1)
    expect(ids).toHaveLength(2)
    const asked = { role: 'user', parts: [PICTURE, { type: 'text', text: 'Look.' }] }
    const drawn = { role: 'tool', parts: [{ type: 'result', name: 'draw', isError: false, content: [PICTURE] }] }
    for (const told of read) expect(told).toMatchObject([asked, { role: 'assistant' }, drawn])
    expect(resultsTold(world.model)).toEqual([{ isError: false, text: '3' }])
    expect(JSON.stringify(world.model.requests)).not.toContain('changed')
  },
  'pictures of inputs and results are handles in records, and reach the model as they were handed in': async ({
    createWorld,
  }) => {
    const tools = [act(() => ({ content: [PICTURE] }), { name: 'show' })]
    const world = await createWorld({ tools, steps: [listCalls('show'), { text: 'seen' }] })
    const session = await world.open()
    expect((await world.time.until(session.send([PICTURE]).answer)).text).toBe('seen')
    const [asked, , shown] = world.model.requests.at(-1)?.messages ?? []
    expect(asked?.parts).toEqual([PICTURE])
    expect(shown?.parts).toMatchObject([{ content: [PICTURE] }])
    const records = JSON.stringify(await world.records())
    expect(records).toContain('"type":"blob"')
    expect(records).not.toContain('base64')
  },
  'an input whose picture cannot be stored is refused whole, and the session goes on': async ({ createWorld }) => {
    const put = (): Promise<never> => Promise.reject(new Error('the disk is full'))
    const world = await createWorld({ blobs: { put }, steps: [{ text: 'fine' }] })
    const session = await world.open()
    const turn = session.send([{ type: 'text', text: 'look' }, PICTURE])
    await expect(world.time.until(turn.answer)).rejects.toMatchObject({ code: 'store_failed' })
    expect((await world.time.until(session.send('go on').answer)).text).toBe('fine')
    expect(textsTold(world.model, 'user')).toEqual(['go on'])
  },
  'what is said after a picture comes after it, also while the picture is being stored': async ({ createWorld }) => {
    const gate = Promise.withResolvers<string>()
    const steps = [listCalls('act'), { text: 'answer' }, { text: 'answer' }]
    const world = await createWorld({ tools: [act(() => gate.promise)], steps })
    const session = await world.open()
    const turns = [session.send([PICTURE]), session.send('two')]
    // The second one arrives before the first one's turn ends.
    await world.time.settle()
    gate.resolve('done')
    await world.time.until(Promise.all(turns.map((turn) => turn.answer)))
    expect(textsTold(world.model, 'user')).toEqual(['[image]', 'two'])
  },
}
