// Output and exit codes of the `baton` command, run in this process: help, and one clear line per mistake.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Console } from '../console.ts'
import { run } from '../run.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function baton(words: readonly string[], variables: Console['variables'] = {}) {
  const written: string[] = []
  const noted: string[] = []
  const terminal: Console = {
    variables: { XDG_DATA_HOME: folder, HOME: folder, ...variables },
    folder,
    write: (text) => void written.push(text),
    note: (line) => void noted.push(line),
    onStop: () => () => {},
    onStray: () => () => {},
  }
  const code = await run(words, terminal)
  return { code, output: written.join(''), errors: noted }
}

type Said = readonly [exitCode: number, line: string | RegExp]

type Mistake = [string, readonly string[], Readonly<Record<string, string>>, Said]

/** Linux cannot create folders there. */
const WITHOUT_FOLDER: readonly Mistake[] = [
  [
    'init in a place where no folder can be made',
    ['init', '/proc/baton/shop'],
    {},
    [1, /^the files could not be written: ENOENT: no such file or directory, mkdir '\/proc\/baton'/],
  ],
  [
    'a store in a place where no folder can be made',
    ['chat', '--store', 'sqlite:/proc/baton/shop.sqlite', '--once', 'hi', '--session', 's'],
    {},
    [1, /ENOENT/],
  ],
]

const MISTAKES: readonly Mistake[] = [
  ...(process.platform === 'linux' ? WITHOUT_FOLDER : []),
  ['an unknown command', ['serv'], {}, [2, 'there is no command "serv", did you mean serve? see "baton --help"']],
  [
    'help for an unknown command',
    ['help', 'serv'],
    {},
    [2, 'there is no command "serv", did you mean serve? see "baton --help"'],
  ],
  [
    'an unknown option',
    ['serve', '--prot', '1'],
    {},
    [2, 'unknown option --prot, did you mean --port? see "baton serve --help"'],
  ],
  ['an option without its value', ['chat', '--once'], {}, [2, '--once needs a value; see "baton chat --help"']],
  [
    'an option whose value begins with a hyphen',
    ['serve', '--drain-ms', '-5'],
    {},
    [2, '--drain-ms needs a value; write one that begins with "-" as --drain-ms=-…; see "baton serve --help"'],
  ],
  [
    'an option that is a flag, with a value',
    ['serve', '--acp=yes'],
    {},
    [2, /^--acp takes no value; see "baton serve/],
  ],
  [
    'a word for the version',
    ['version'],
    {},
    [2, 'there is no command "version", did you mean --version? see "baton --help"'],
  ],
  [
    'a misspelt option of none',
    ['--hlep'],
    {},
    [2, 'there is no command "--hlep", did you mean --help? see "baton --help"'],
  ],
  [
    'a word too many',
    ['serve', 'now'],
    {},
    [2, 'unexpected word "now": serve takes only options; see "baton serve --help"'],
  ],
  [
    'a question without its option',
    ['chat', 'hello', 'there'],
    {},
    [
      2,
      'unexpected word "hello": chat takes only options; --once "hello there" asks one question; see "baton chat --help"',
    ],
  ],
  [
    'a port that is none',
    ['serve', '--port', '70000'],
    {},
    [2, '--port must be a number from 0 to 65535, not "70000"'],
  ],
  [
    'a variable that is not a port',
    ['serve'],
    { PORT: 'http' },
    [2, 'the variable PORT must be a number from 0 to 65535, not "http"'],
  ],
  [
    'an address that is empty',
    ['serve', '--host='],
    {},
    [2, '--host must not be empty; use 0.0.0.0 for every address of the machine'],
  ],
  ['no question', ['chat'], {}, [2, 'chat needs a terminal, lines on standard input, or --once "your question"']],
  [
    'an unknown model',
    ['chat', '--once', 'x', '--model', 'gpt'],
    {},
    [1, /^no model is named "gpt"; use "<provider>\/<model>" or "offline"; providers: anthropic, openai, /],
  ],
  [
    'a model without its key',
    ['chat', '--once', 'x', '--model', 'anthropic/claude-x'],
    {},
    [1, 'the model anthropic/claude-x needs a key; set ANTHROPIC_API_KEY, or use the model "offline"'],
  ],
  [
    'an address of the provider that is none',
    ['serve', '--port', '0'],
    { ANTHROPIC_API_KEY: 'key-of-a-test', ANTHROPIC_BASE_URL: 'notaurl' },
    [1, /^ANTHROPIC_BASE_URL must be an address such as (?!.*notaurl).*without a query/],
  ],
  [
    'a key with a line break',
    ['chat', '--once', 'x'],
    { ANTHROPIC_API_KEY: 'key-of\na-test' },
    [1, /^ANTHROPIC_API_KEY contains a line break/],
  ],
  [
    'a provider without its keys',
    ['serve'],
    { MODEL_PROVIDER: 'bedrock' },
    [1, /^the model bedrock\/amazon.nova-lite-v1:0 needs credentials; set AWS_BEARER_TOKEN_BEDROCK, or /],
  ],
  [
    'an agent file that is not there',
    ['serve', '--agent', 'none.ts'],
    {},
    [1, 'the agent file none.ts does not exist'],
  ],
  [
    'an agent that is a folder',
    ['serve', '--agent', '.'],
    {},
    [1, 'the agent file . is a folder; name the TypeScript or JavaScript file in it'],
  ],
]

test.each(MISTAKES)('%s is one line and an exit code', async (_situation, words, variables, [code, message]) => {
  const said = await baton(words, variables)
  expect(said).toEqual({ code, output: '', errors: [expect.stringMatching(/^baton: .+$/)] })
  const line = said.errors[0]?.slice('baton: '.length) ?? ''
  const fits = typeof message === 'string' ? line === message : message.test(line)
  expect({ line, fits }).toEqual({ line, fits: true })
})

test.each(['serve', 'chat', 'models', 'sessions', 'store', 'log', 'doctor'])(
  'help names what %s can do',
  async (name) => {
    const said = await baton(['help', name])
    expect([said.code, said.errors]).toEqual([0, []])
    expect(said.output).toMatch(new RegExp(`^baton ${name}\\b.*: `))
  },
)

test.each([[['--help']], [['serve', '--help']], [['chat', '-h']], [['--version']], [[]]])(
  '%j is answered on the output',
  async (words) => {
    const said = await baton(words)
    expect([said.code, said.output === '', said.errors]).toEqual([0, false, []])
  },
)

test.each([
  ['mysql://here', '"mysql://here"'],
  ['sqlite:', '"sqlite:"'],
  ['mysql://ann:secret@here', '"mysql://[redacted]@here"'],
])('a store %s is one line', async (store, given) => {
  const message = `--store must be memory:, sqlite:FILE or postgres://HOST/DATABASE, not ${given}`
  expect(await baton(['serve', '--store', store])).toEqual({ code: 2, output: '', errors: [`baton: ${message}`] })
})
