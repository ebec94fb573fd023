// Whether the explorer's tools give enough to answer questions about real code: three packages, four questions each, in a window of 4,096
// tokens. What is judged are the tools, so the model is an ideal one; the oracle is the file on the disk.
import type { CallView, SessionEvent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { createExplorer, readExploration } from '@baton/tools/explorer'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { playIdeally } from './ideal-model.ts'
import { REPOSITORIES } from './questions.ts'

const place = mkdtempSync(join(tmpdir(), 'baton-quality-'))
const sessions = { claudeCode: place, codex: place }
let answered = 0

afterAll(() => {
  rmSync(place, { recursive: true })
  const asked = REPOSITORIES.flatMap(({ questions }) => questions).length
  console.info(
    `explorer: ${answered} of ${asked} questions about ${REPOSITORIES.length} packages answered by ideal plans`,
  )
})

test.each(REPOSITORIES)('an ideal plan finds each answer in $name, and cites it', async ({ root, questions, name }) => {
  const model = createScriptedModel({ steps: playIdeally(questions), capabilities: { contextTokens: 4096 } })
  const host = createHost({ agent: createExplorer({ root, model, sessions }) })
  const session = await host.session(name)
  const calls = new Map<string, CallView>()
  const turn = session.send(questions.map(({ text }) => text).join('\n'))
  for await (const event of turn as AsyncIterable<SessionEvent>)
    if (event.type === 'call') calls.set(event.call.callId, event.call)
  expect((await turn.answer).outcome).toBe('answered')
  const summary = await readExploration(session, { root })
  expect(summary).toMatchObject({ name, citations: { refused: 0 } })
  expect(summary.findings.length).toBeGreaterThanOrEqual(5)
  for (const { text, evidence } of summary.findings)
    for (const { path, line, callId } of evidence) {
      const call = calls.get(callId)
      expect(call).toMatchObject({ result: { type: 'ok' } })
      // The line that is cited is what the file has, and what that call has shown.
      const written = readFileSync(join(root, path ?? ''), 'utf8')
        .split('\n')
        [(line ?? 0) - 1]?.trim()
      expect(written).toBe(text)
      expect(JSON.stringify(call?.result)).toContain(JSON.stringify(written).slice(1, -1))
    }
  for (const [index, { truth, file }] of questions.entries()) {
    const finding = summary.findings[index]
    expect(finding?.text).toMatch(truth)
    expect(finding?.evidence[0]?.path).toBe(file)
    answered += 1
  }
  await host.stop()
})
