// Every situation of version 1, frame by frame: replays the traces in packages/protocol/traces and compares them as
// text.
import { playTrace } from '@baton/testing/v1-traces'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const FOLDER = fileURLToPath(new URL('../../../protocol/traces/v1/', import.meta.url))
const traces = readdirSync(FOLDER).map((file) => {
  const text = readFileSync(FOLDER + file, 'utf8')
  return { file, text, situation: /^# (.*)/.exec(text)?.[1] ?? file }
})
const counts = { situations: 0, frames: 0 }
afterAll(() => {
  console.info(`version 1: ${counts.situations} situations, ${counts.frames} frames pinned`)
})

test.each(traces)('$file: $situation', async ({ file, text }) => {
  const played = await playTrace(text)
  await expect(played.text).toMatchFileSnapshot(FOLDER + file)
  counts.situations += 1
  counts.frames += played.frames
})
