// Twelve first programs of somebody who knows the AI SDK, each with one mistake. The first line of the compiler's error, or of the error
// when the program runs, must name the mistake and what to write; on TypeScript 5.9 and 7 alike.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const REPOSITORY = join(import.meta.dirname, '../../..')
const COMPILERS = { 7: 'node_modules/typescript', 5.9: 'packages/testing/node_modules/typescript' } as const

const SCHEMA = 'z.object({ city: z.string() })'
const WEATHER = `name: 'weather', description: 'Says the weather'`
const RUN = 'execute: ({ city }) => ({ city, degrees: 20 })'
const TOOL = `const weather = tool({ ${WEATHER}, input: ${SCHEMA}, ${RUN} })\n`
const agent = (more: string): string =>
  `${TOOL}const agent = defineAgent({ name: 'a', model, tools: [weather], ${more} })\n`
const asks = `const answer = await createHost({ agent }).session('s').then((session) => session.send('Oslo?').answer)\n`

interface Mistake {
  readonly program: string
  /** Words of the compiler's first line; undefined: it accepts the program. */
  readonly compiles?: RegExp
  /** Words of the first line when the program runs; undefined: it runs. */
  readonly runs?: RegExp
}

const MISTAKES: Readonly<Record<string, Mistake>> = {
  'inputSchema for input': {
    program: `tool({ ${WEATHER}, inputSchema: ${SCHEMA}, ${RUN} })`,
    compiles: /Baton names this field \\"input\\"/,
    runs: /tool "weather" has no field "inputSchema"; it is called "input" here/,
  },
  'parameters for input': {
    program: `tool({ ${WEATHER}, parameters: ${SCHEMA}, ${RUN} })`,
    compiles: /Baton names this field \\"input\\"/,
    runs: /"parameters"; it is called "input" here/,
  },
  'needsApproval for approval': {
    program: `tool({ ${WEATHER}, input: ${SCHEMA}, needsApproval: true, ${RUN} })`,
    compiles: /Baton names this field \\"approval\\"/,
    runs: /"needsApproval"; it is called "approval" here/,
  },
  'no description': {
    program: `tool({ name: 'weather', input: ${SCHEMA}, ${RUN} })`,
    runs: /tool "weather": description must be text/,
  },
  'no name': { program: `tool({ description: 'd', input: ${SCHEMA}, ${RUN} })`, runs: /a tool needs a name/ },
  'an effect that does not exist': {
    program: `tool({ ${WEATHER}, input: ${SCHEMA}, effect: 'read', ${RUN} })`,
    compiles: /Type '"read"' is not assignable to type 'EffectClass'/,
    runs: /effect must be "pure", "idempotent", "once"/,
  },
  'a result that does not fit': {
    program: `tool({ ${WEATHER}, input: ${SCHEMA}, output: z.object({ degrees: z.number() }), execute: ({ city }) => ({ degrees: city }) })`,
    compiles:
      /readonly degrees: string; }' is not assignable .*degrees: number|Type 'string' is not assignable to type 'number'/,
  },
  'system for instructions': {
    program: agent(`system: 'Be brief.'`),
    compiles: /Baton names this field \\"instructions\\"/,
    runs: /no field "system"; it is called "instructions" here/,
  },
  'tools by name': {
    program: `${TOOL}defineAgent({ name: 'a', model, tools: { weather } })`,
    runs: /tools must be an array/,
  },
  'a stop condition of the AI SDK': {
    program: agent('stopWhen: isStepCount(5)'),
    compiles: /StopCondition<any, any>' is not assignable to type .*StopRule/,
    runs: /agent "a": stopWhen must be a condition, not a function/,
  },
  'activeTools in prepareStep': {
    program: agent(`prepareStep: () => ({ activeTools: ['weather'] })`) + asks,
    compiles: /activeTools/,
    runs: /prepare_step_failed|it returned a field "activeTools"; Baton names it "tools"/,
  },
  'a tool name that no tool has': {
    program: agent(`prepareStep: () => ({ tools: ['wether'] })`) + asks,
    compiles: /wether/,
    runs: /it names the tool "wether", which agent "a" does not have; did you mean "weather"\?/,
  },
}

const HEAD = `import { createHost, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { isStepCount } from 'ai'
import { z } from 'zod'
const model = createScriptedModel({ steps: [{ text: 'Mild.' }] })
void [createHost, defineAgent, tool, isStepCount, model]
`
const NAMES = Object.keys(MISTAKES)
let folder = ''

beforeAll(() => {
  mkdirSync(join(REPOSITORY, 'reports'), { recursive: true })
  folder = mkdtempSync(join(REPOSITORY, 'reports/first-programs-'))
  for (const [at, { program }] of Object.values(MISTAKES).entries())
    writeFileSync(join(folder, `program-${at}.ts`), HEAD + program)
  const options = { noEmit: true, types: ['node'], customConditions: ['@baton/source'] }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.json', compilerOptions: options, include: ['*.ts'] }),
  )
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each(Object.entries(COMPILERS))(
  'TypeScript %s refuses each program, and names what is wrong',
  async (_, compiler) => {
    const output = await fail(join(REPOSITORY, compiler, 'lib/tsc.js'), '-p', folder)
    for (const [at, name] of NAMES.entries()) {
      const line = output.split('\n').find((one) => one.includes(`program-${at}.ts(`)) ?? ''
      const { compiles } = MISTAKES[name] ?? {}
      // Without words of its own, the compiler still refuses the program.
      expect({ name, line }).toEqual({ name, line: expect.stringMatching(compiles ?? /error TS/) })
    }
  },
)

test.each(NAMES.filter((name) => MISTAKES[name]?.runs))('a program with %s says so when it runs', async (name) => {
  const path = join(folder, `program-${NAMES.indexOf(name)}.ts`)
  const output = await fail('--conditions=@baton/source', '--no-warnings', path)
  const line = output.split('\n').find((one) => /^\w*Error\b/.test(one)) ?? output
  expect(line).toMatch(MISTAKES[name]?.runs ?? /never/)
})

/** Runs Node with these words; resolves with what it printed. @throws Error if it ends well */
async function fail(...words: readonly string[]): Promise<string> {
  try {
    await promisify(execFile)(process.execPath, words, { cwd: REPOSITORY, maxBuffer: 2 ** 26 })
  } catch (cause) {
    const { stdout, stderr } = cause as { readonly stdout: string; readonly stderr: string } // as execFile rejects
    return stdout + stderr
  }
  throw new Error(`${words.join(' ')} reported no mistake`)
}
