// `baton chat --mcp` in a real terminal (tmux) with the stock server-everything: its tools, images, and a form that is
// accepted, declined, and cancelled with Ctrl+C. Skipped without tmux.
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTerminals, findTmux } from '../terminal/terminal.test-kit.ts'

/** `npx` finds the packages installed here, without a network. */
const NODE_MODULES = fileURLToPath(new URL('../../../../node_modules', import.meta.url))
const hasTmux = findTmux('baton chat --mcp in a terminal')

let folder: string
const { chat, press, shows, tmux, type } = createTerminals(() => folder)
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
})
afterEach(() => {
  tmux('kill-server')
  rmSync(folder, { recursive: true })
})

/** An agent whose model calls the tool that the user names and stores the result it receives. */
async function chatWithEverything(): Promise<void> {
  const core = JSON.stringify(new URL('../../../core/src/index.ts', import.meta.url).href)
  const testing = JSON.stringify(new URL('../../../core/src/testing/index.ts', import.meta.url).href)
  writeFileSync(
    join(folder, 'agent.ts'),
    `import { defineAgent } from ${core}
import { createScriptedModel } from ${testing}
import { writeFileSync } from 'node:fs'
const model = createScriptedModel({
  steps: ({ messages }) => {
    const last = messages.at(-1)
    if (last.role === 'tool') {
      writeFileSync('result.json', JSON.stringify(last.parts[0]))
      return { text: 'I have read it.' }
    }
    const [name, given = '{}'] = last.parts[0].text.split(' ')
    return { calls: [{ name, arguments: JSON.parse(given) }] }
  },
})
export default defineAgent({ name: 'tester', model })
`,
  )
  symlinkSync(NODE_MODULES, join(folder, 'node_modules'))
  const words = '--store memory: --agent agent.ts --mcp "npx @modelcontextprotocol/server-everything"'
  await chat(words, { columns: 140, variables: `XDG_DATA_HOME=${folder}` })
}

interface ModelsResult {
  readonly content: readonly { readonly type: string; readonly text?: string; readonly mediaType?: string }[]
}

const readResult = (): ModelsResult => JSON.parse(readFileSync(join(folder, 'result.json'), 'utf8')) as ModelsResult

test.runIf(hasTmux)('a tool is called and its result shown; the model is given an image as an image', async () => {
  await chatWithEverything()
  type('get-sum {"a":2,"b":3}')
  await shows(/✓ get-sum [^\n]*: The sum of 2 and 3 is 5\.\nI have read it\.\n\n› *$/)
  type('get-tiny-image')
  await shows(/✓ get-tiny-image [^]*\nI have read it\.\n\n› *$/)
  const { content } = readResult()
  expect(content).toMatchObject([{ type: 'text' }, { type: 'image', mediaType: 'image/png' }, { type: 'text' }])
})

test.runIf(hasTmux)('a form is filled in: invalid answers are requested again, Enter accepts the default', async () => {
  await chatWithEverything()
  type('trigger-elicitation-request')
  await shows(
    /a tool asks: The MCP server "everything" asks: Please provide[^]*\n {2}Your full, legal name\nString: *$/,
  )
  type('Ann')
  const answers: readonly (readonly [RegExp, string])[] = [
    [/Agree to the terms and conditions\nBoolean \(y\/n, optional\): *$/, 'y'],
    [/String with default \(Enter for It was a dark and stormy night\.\): *$/, ''],
    [/String with email format \(email address, optional\): *$/, 'ann'],
    [/"ann" is not an email address\nString with email format [^\n]*: *$/, 'ann@example.com'],
    [/String with uri format [^\n]*: *$/, ''],
    [/String with date format [^\n]*: *$/, '2000-02-29'],
    [/Integer \(whole number, 1 to 100, Enter for 42\): *$/, '7'],
    [/Number in range 1-1000 [^\n]*: *$/, ''],
    [/Monica\/Rachel[^\n]*Enter for Monica\): *$/, 'Ross'],
    [/Guitar\/Piano[^\n]*separate several with commas, 1 to 3 of them, Enter for Guitar\): *$/, 'Piano, Bass'],
    [/Superman\/Green Lantern\/Wonder Woman, Enter for Superman\): *$/, 'Green Lantern'],
    [/Tuna\/Salmon\/Trout[^\n]*Enter for Tuna\): *$/, ''],
    [/Cats\/Dogs[^\n]*Enter for Cats\): *$/, 'Dogs'],
  ]
  for (const [wanted, answer] of answers) {
    await shows(wanted)
    type(answer)
  }
  await shows(/✓ trigger-elicitation-request [^]*\nI have read it\.\n\n› *$/)
  const raw = readResult().content.at(-1)?.text ?? ''
  expect(JSON.parse(raw.slice(raw.indexOf('{')))).toEqual({
    action: 'accept',
    content: {
      name: 'Ann',
      check: true,
      firstLine: 'It was a dark and stormy night.',
      email: 'ann@example.com',
      birthdate: '2000-02-29',
      integer: 7,
      number: 3.14,
      untitledSingleSelectEnum: 'Ross',
      untitledMultipleSelectEnum: ['Piano', 'Bass'],
      titledSingleSelectEnum: 'hero-2',
      titledMultipleSelectEnum: ['fish-1'],
      legacyTitledEnum: 'pet-2',
    },
  })
})

test.runIf(hasTmux)('a form is declined; Ctrl+C cancels one with its turn, and the server keeps running', async () => {
  await chatWithEverything()
  type('trigger-elicitation-request')
  await shows(/\nString: *$/)
  type('/decline')
  await shows(/✓ trigger-elicitation-request [^]*\nI have read it\.\n\n› *$/)
  expect(readResult().content[0]?.text).toContain('User declined')
  type('trigger-elicitation-request')
  await shows(/I have read it\.[^]*\nString: *$/)
  press('C-c')
  await shows(/the turn was interrupted\n\n› *$/)
  type('echo {"message":"hello"}')
  await shows(/✓ echo [^\n]*: Echo: hello\nI have read it\.\n\n› *$/)
})
