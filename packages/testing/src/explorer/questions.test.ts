// Whether the explorer's tools suffice to answer questions about third-party code within a small model's window. A
// script plays someone who knows the tools; what counts is that results contain the right files and lines, and that
// each citation occurs in a result.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject, JsonValue, ModelRequest, Session } from '@baton/core/internal'
import { isJsonObject, parseJson, readText } from '@baton/core/internal'
import type { ScriptedStep } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { createExplorer, readExploration } from '@baton/kits/explorer'
import { afterAll, expect, test } from 'vitest'
import type { Question, Repository } from './repositories.test-kit.ts'
import { REPOSITORIES, copyRepository, readLine } from './repositories.test-kit.ts'

const place = mkdtempSync(join(tmpdir(), 'baton-questions-'))
const sessions = { claudeCode: join(place, 'none'), codex: join(place, 'none') }
const counts = { questions: 0, answered: 0, findings: 0, citations: 0 }

afterAll(() => {
  rmSync(place, { recursive: true, force: true })
  const { questions, answered, findings, citations } = counts
  console.info(
    `explorer: ${answered} of ${questions} questions answered about ${REPOSITORIES.map(({ name }) => name).join(', ')}; ${findings} findings, ${citations} citations found in the results of their calls`,
  )
})

test.each(REPOSITORIES)('questions about $name are answered with the right files and lines', async (repository) => {
  const root = copyRepository(repository.name, place)
  const model = createScriptedModel({
    capabilities: { contextTokens: 4096 },
    steps: playExpert(repository),
  })
  const host = createHost({ agent: createExplorer({ root, model, sessions }) })
  const session = await host.session(repository.name)
  const answer = await session.send(repository.questions.map(({ text }) => text).join('\n')).answer
  expect(answer.text).toBe('Reported.')
  const summary = await readExploration(session, { root })
  expect(summary.name).toBe(repository.name)
  expect(summary.citations).toEqual({ accepted: repository.questions.length + 1, refused: 0 })
  expect(summary.findings).toHaveLength(repository.questions.length + 1)
  const results = await readResults(session)
  for (const [index, { text, evidence }] of summary.findings.entries()) {
    const question = repository.questions[index]
    counts.findings += 1
    for (const { callId, tool, path = '', line } of evidence) {
      expect(shows(results.get(callId), path, line), `${tool} shows ${path}:${line}`).toBe(true)
      counts.citations += 1
      if (!question) continue
      expect([text, path]).toEqual([question.text, question.path])
      expect(readLine(root, path, line ?? 0)).toMatch(question.answer)
      counts.answered += 1
    }
  }
  counts.questions += repository.questions.length
  for (const { path, lines } of summary.topFiles)
    expect([path, lines]).toEqual([path, countLines(readFileSync(join(root, path), 'utf8'))])
  expect(summary.languages[0]?.lines).toBeGreaterThan(500)
  expect(summary.entryPoints.length).toBeGreaterThan(0)
  await host.stop()
})

const call = (name: string, args: JsonObject = {}): ScriptedStep => ({ calls: [{ name, arguments: args }] })

/** Plans, lists, searches once per question, reads around the first answer, and reports what it read, in ten steps. */
function playExpert({ questions }: Repository): (request: ModelRequest) => ScriptedStep {
  const found = new Map<Question, number>()
  const entries = questions.map(({ text }) => ({ content: text, tool: 'code.grep' }))
  const searches = questions.map(({ pattern, pathPrefix }) => call('code.grep', { pattern, pathPrefix }))
  const steps = [call('session.analyze'), call('plan.set', { entries }), call('fs.list_dir'), ...searches]
  let at = 0
  return ({ messages }) => {
    const last = messages.at(-1)
    for (const part of last?.role === 'tool' ? last.parts : []) {
      const result = parseJson(readText(part.content))
      if (part.name === 'code.grep' && result.ok)
        for (const question of questions) note(found, question, findLine(result.value, question))
      if (part.name === 'explore.report' && !part.isError) return { text: 'Reported.' }
    }
    const step = steps[at]
    at += 1
    if (step) return step
    const [first] = questions
    const line = first && found.get(first)
    if (first && line !== undefined && at === steps.length + 1)
      return call('content.get_span', { path: first.path, startLine: Math.max(1, line - 3), endLine: line + 3 })
    return call('explore.report', { findings: describeFindings(questions, found) })
  }
}

function note(found: Map<Question, number>, question: Question, line: number | undefined): void {
  if (line !== undefined) found.set(question, line)
}

function describeFindings(questions: readonly Question[], found: ReadonlyMap<Question, number>): readonly JsonObject[] {
  const answers = questions.flatMap((question) => {
    const line = found.get(question)
    return line === undefined ? [] : [{ text: question.text, evidence: [{ path: question.path, line }] }]
  })
  return [...answers, { text: 'It is a package of npm', evidence: [{ path: 'package.json' }] }]
}

/** The line that a search found for the question. */
function findLine(result: JsonValue, { path, answer }: Question): number | undefined {
  for (const file of listObjects(isJsonObject(result) ? result['files'] : []))
    for (const { line, text } of file['path'] === path ? listObjects(file['lines']) : [])
      if (typeof line === 'number' && typeof text === 'string' && answer.test(text)) return line
  return undefined
}

function listObjects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** Results of successful calls, as logged. */
async function readResults(session: Session): Promise<ReadonlyMap<string, JsonValue>> {
  const { messages } = await session.messages({ limit: 50 })
  const calls = messages
    .flatMap((message) => (message.role === 'assistant' ? message.steps : []))
    .flatMap((step) => step.calls)
  return new Map(
    calls.flatMap(({ callId, result }) =>
      result?.type === 'ok' && result.value !== undefined ? [[callId, result.value] as const] : [],
    ),
  )
}

/** Whether a result contains the path, and the line if given. Independent of the explorer's own check. */
function shows(result: JsonValue | undefined, path: string, line: number | undefined): boolean {
  if (!isJsonObject(result)) return false
  const { startLine, endLine, files, entries } = result
  if (listObjects(entries).some((entry) => entry['path'] === path)) return line === undefined
  if (result['path'] === path) return line === undefined || (Number(startLine) <= line && line <= Number(endLine))
  const file = listObjects(files).find((one) => one['path'] === path)
  return file !== undefined && (line === undefined || listObjects(file['lines']).some((one) => one['line'] === line))
}

function countLines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}
