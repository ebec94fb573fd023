// A session of any agent fits the part of a session that a voice needs, and the voice has its own small bundle.
import { defineAgent, tool } from '@baton/core'
import { expect, expectTypeOf, test } from 'vitest'
import { bundleForPage } from '../bundle.test-kit.ts'
import type { SessionClient } from '../index.ts'
import type { VoiceClient } from './voice-api.ts'

const VOICE_BYTES_MAX = 16 * 1024

test('a session fits, whatever its agent', () => {
  const agent = defineAgent({
    name: 'a',
    model: 'offline',
    tools: [tool({ name: 'a.b', description: 'b', input: { type: 'object' }, execute: () => 'b' })],
  })
  expectTypeOf<SessionClient>().toExtend<VoiceClient>()
  expectTypeOf<SessionClient<typeof agent>>().toExtend<VoiceClient>()
})

test('a page loads little for a voice with the browser as its speaker', async () => {
  const { files, packages, imports } = await bundleForPage(
    "export { createBrowserSpeaker, createVoice } from '@baton/client/voice'",
    true,
  )
  const bytes = Buffer.byteLength(Object.values(files).join(''))
  console.info(`voice: ${bytes} bytes minified`)
  expect(bytes).toBeLessThan(VOICE_BYTES_MAX)
  expect([Object.keys(files), imports, [...packages]]).toEqual([['entry.js'], [], ['client']])
})
