// The explorer within 4,096 tokens, counted by a real model's tokenizer: thirty explorations of 2,000 files by a
// scripted model.
import type { JsonObject, ModelRequest, Session } from '@baton/core/internal'
import { readText } from '@baton/core/internal'
import { validateHistory, createScriptedModel } from '@baton/core/testing'
import type { ScriptedStep } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { createExplorer, readExploration } from '@baton/kits/explorer'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findGguf } from '../components/gguf.ts'

const path = findGguf('the budget of the explorer', console.warn)
const WINDOW = 4096
const ROUNDS = 30
const FILES = 2000
const root = mkdtempSync(join(tmpdir(), 'baton-budget-'))
const sessions = { claudeCode: join(root, 'none'), codex: join(root, 'none') }

beforeAll(() => {
  for (let number = 0; number < FILES; number += 1) {
    const folder = join(root, `part${number % 40}`)
    mkdirSync(folder, { recursive: true })
    const text = `export const value${number} = ${number} // a line that is like others\n`.repeat(20)
    writeFileSync(join(folder, `file${number}.ts`), `// task ${number}.\n${text}`)
  }
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** The slice of node-llama-cpp that counts. It is not a dependency, so its types are not available. */
interface Tokenizer {
  tokenize(text: string): readonly number[]
  dispose(): Promise<void>
}
async function openTokenizer(file: string): Promise<Tokenizer> {
  const name: string = 'node-llama-cpp'
  const { getLlama } = (await import(name)) as {
    getLlama(options: object): Promise<{ loadModel(options: object): Promise<Tokenizer> }>
  }
  const llama = await getLlama({ build: 'never', logLevel: 'error', gpu: false })
  return await llama.loadModel({ modelPath: file, vocabOnly: true })
}

/** Everything that would be sent to a provider, as text. */
function describeRequest({ instructions, tools, messages }: ModelRequest): string {
  const leaveState = (name: string, value: unknown): unknown => (name === 'state' ? undefined : value)
  const told = messages.map(({ role, parts }) => `${role}: ${JSON.stringify(parts, leaveState)}`)
  return [
    instructions,
    ...tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema })),
    ...told,
  ].join('\n')
}

const call = (name: string, args: JsonObject): ScriptedStep => ({ calls: [{ name, arguments: args }] })

/** Searches for the task of its round, reports the result, and states it. */
function play(request: ModelRequest, round: number): ScriptedStep {
  const { messages, toolChoice, instructions } = request
  const told = messages.map(({ parts }) => readText(parts as readonly { type: string }[])).join('\n')
  if (instructions?.startsWith('Summarise')) {
    const found = [...new Set(told.match(/finding \d+ in part\d+/g) ?? [])]
    return { text: `Found: ${found.join(', ')}.` }
  }
  const place = `part${round % 40}/file${round}.ts`
  const last = messages.at(-1)
  const [result] = last?.role === 'tool' ? last.parts : []
  if (toolChoice.type === 'tool' && toolChoice.name === 'session.analyze') return call('session.analyze', {})
  if (result?.name === 'session.analyze') return call('fs.list_dir', { path: '.', depth: 2 })
  if (result?.name === 'fs.list_dir') return call('code.grep', { pattern: `task ${round}\\.|value1` })
  if (result?.name === 'code.grep') return call('content.get_span', { path: place })
  if (result?.name === 'content.get_span')
    return call('explore.report', { findings: [{ text: `Task ${round}`, evidence: [{ path: place, line: 1 }] }] })
  return { text: `finding ${round} in part${round % 40}` }
}

test.skipIf(path === undefined)(
  `${ROUNDS} explorations of ${FILES} files stay in the window, and the last knows the first`,
  async () => {
    const tokenizer = await openTokenizer(path ?? '')
    const count = (text: string): number => tokenizer.tokenize(text).length
    let round = 1
    let most = 0
    let summaries = 0
    const model = createScriptedModel({
      capabilities: { contextTokens: WINDOW },
      steps: (request) => {
        const inputTokens = count(describeRequest(request))
        most = Math.max(most, inputTokens + (request.settings.maxOutputTokens ?? 0))
        if (request.instructions?.startsWith('Summarise')) summaries += 1
        const step = play(request, round)
        const outputTokens = count(step.text ?? JSON.stringify(step.calls))
        return { ...step, usage: { inputTokens, outputTokens } }
      },
    })
    const host = createHost({ agent: createExplorer({ root, model, sessions }) })
    const session: Session = await host.session('explorations')
    for (; round <= ROUNDS; round += 1) {
      const answer = await session.send(`Exploration ${round}: what is task ${round}?`).answer
      expect(answer.text).toBe(`finding ${round} in part${round % 40}`)
    }
    const lastRequest = model.requests.findLast(({ instructions }) => !instructions?.startsWith('Summarise'))
    expect(JSON.stringify(lastRequest?.messages)).toContain('finding 1 in part1')
    for (const { messages } of model.requests) expect(validateHistory(messages)).toEqual([])
    expect(most).toBeLessThanOrEqual(WINDOW)
    expect(summaries).toBeGreaterThan(3)
    const { findings } = await readExploration(session, { root })
    expect(findings[0]?.evidence[0]).toMatchObject({ path: `part${ROUNDS % 40}/file${ROUNDS}.ts`, line: 1 })
    console.info(
      `explorer: ${ROUNDS} explorations, ${model.requests.length} requests, ${summaries} summaries, at most ${most} of ${WINDOW} tokens`,
    )
    await host.stop()
    await tokenizer.dispose()
  },
)
