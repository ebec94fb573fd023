// The page shows the captured conversation, and the conversation shows everything that it must.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REPOSITORY } from './source-files.ts'

const readText = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8')

test('docs/voice-web.md shows the captured conversation', () => {
  expect(readText('docs/voice-web.md')).toContain(`\`\`\`text\n${readText('docs/voice-session.txt')}\`\`\`\n`)
})

test('the captured conversation has waiting words, a cough, an interrupt in mid-sentence, and a tool that goes on', () => {
  expect(readText('docs/voice-session.txt')).toMatch(
    /not in the conversation[^]*There is another \[one[^]*Nobody spoke: goes on[^]*You +Book[^]*goes on, its outcome follows[^]*Your booking is done meanwhile/,
  )
})

test('the pictures are small', () => {
  for (const size of ['desktop', 'phone'])
    expect(readFileSync(join(REPOSITORY, `docs/voice-${size}.png`)).byteLength).toBeLessThan(150_000)
})
