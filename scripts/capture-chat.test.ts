// The page shows the captured session, and the session shows everything that it must.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REPOSITORY } from './source-files.ts'

const readText = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8')

test('docs/cli.md shows the captured session', () => {
  expect(readText('docs/cli.md')).toContain(`\`\`\`text\n${readText('docs/chat-session.txt')}\`\`\`\n`)
})

test('the captured session has calls, an interrupt, a switch of the model, and the log', () => {
  expect(readText('docs/chat-session.txt')).toMatch(
    /^> code\.grep [^]*^✓ code\.grep \d+ ms .*$[^]*^the turn was interrupted$[^]*^› \/model [^]*^› \/log$[^]*turn 3 was answered/m,
  )
})
