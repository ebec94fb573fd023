// A conversation read in pages while a part of it is taken back.
import { defineAgent } from '@baton/core'
import type { MessagesQuery } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { expect, test } from 'vitest'
import { PAGE_RESTARTS, readPages } from './message-pages.ts'

async function openTalk() {
  const model = createScriptedModel({ steps: () => ({ text: 'yes' }) })
  const host = createHost({ agent: defineAgent({ name: 'talker', model }) })
  const session = await host.session('s')
  for (let at = 0; at < 6; at += 1) await session.send('on', { inputId: `m${at}` }).answer
  /** Has a rewind before each older page, as long as there are any. */
  const rewinding = (targets: string[]) => ({
    messages: async (query: MessagesQuery = {}) => {
      const message = query.before === undefined ? undefined : targets.shift()
      if (message !== undefined) await session.rewind({ message })
      return await session.messages(query)
    },
  })
  return { session, rewinding, stop: () => host.stop() }
}

const listPages = async (session: Parameters<typeof readPages>[0]) => {
  const pages: (readonly string[])[] = []
  for await (const { messages, isNewest } of readPages(session, 4))
    pages.push([...(isNewest ? ['newest'] : []), ...messages.map(({ id }) => id)])
  return pages
}

test('pages come from the end to the beginning', async () => {
  const { session, stop } = await openTalk()
  expect(await listPages(session)).toEqual([
    ['newest', 'm4', 't5', 'm5', 't6'],
    ['m2', 't3', 'm3', 't4'],
    ['m0', 't1', 'm1', 't2'],
  ])
  await stop()
})

test('if the message where a page ends is taken back, the newest page comes again', async () => {
  const { rewinding, stop } = await openTalk()
  expect(await listPages(rewinding(['m3']))).toEqual([
    ['newest', 'm4', 't5', 'm5', 't6'],
    ['newest', 'm1', 't2', 'm2', 't3'],
    ['m0', 't1'],
  ])
  await stop()
})

test('a conversation that is always taken back is given up', async () => {
  let id = 0
  const messages = async ({ before }: MessagesQuery = {}) => {
    if (before !== undefined) return await gone(before)
    return { messages: [{ role: 'user', id: `gone${(id += 1)}` } as never], more: true, next: { pos: 0 } }
  }
  const { session, stop } = await openTalk()
  const gone = (before: string) => session.messages({ before })
  await expect(listPages({ messages })).rejects.toMatchObject({ code: 'invalid_option' })
  expect(id).toBe(PAGE_RESTARTS + 1)
  await stop()
})
