// The explorer with a model of 270 million parameters, asked about public packages like the expert in
// `questions.test.ts`. Only the framework is judged: every exploration ends with typed output, nothing exceeds 4,096
// tokens, and every request has a valid history. Its findings are printed but never fail the test.
import type { ModelRequest } from '@baton/core'
import { validateHistory } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { loadGgufModel } from '@baton/models/gguf'
import { createExplorer, readExploration } from '@baton/kits/explorer'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { chooseRotating, describeRotation, isEveryPlaceTried } from '../components/depth.ts'
import { findGguf } from '../components/gguf.ts'
import type { Question } from './repositories.test-kit.ts'
import { REPOSITORIES, copyRepository } from './repositories.test-kit.ts'

const path = findGguf('the explorer with a small model', console.warn)
const place = mkdtempSync(join(tmpdir(), 'baton-small-'))
/** Explorations per package. */
const ROUNDS = isEveryPlaceTried() ? 10 : 5
/** A small model that has started to repeat itself continues up to the limit; a call may have four times as many. */
const settings = { maxOutputTokens: 64 }
const EXPLORE: Pick<Question, 'text' | 'path'> = { text: 'Explore the workspace.', path: 'package.json' }

afterAll(() => rmSync(place, { recursive: true }))

test.skipIf(path === undefined).each(chooseRotating(REPOSITORIES))(
  'a small model explores $name, and every exploration ends typed',
  { timeout: 3_600_000 },
  async ({ name, questions }) => {
    const root = copyRepository(name, place)
    const model = await loadGgufModel(path ?? '', { contextTokens: 4096, threads: 2 })
    const requests: ModelRequest[] = []
    const watched = {
      ...model,
      run: (...given: Parameters<typeof model.run>) => {
        requests.push(given[0])
        return model.run(...given)
      },
    }
    const sessions = { claudeCode: join(place, 'none'), codex: join(place, 'none') }
    const host = createHost({ agent: createExplorer({ root, model: watched, sessions, maxSteps: 2 }) })
    const session = await host.session(name)
    const goals = [...questions, EXPLORE]
    const counts = { accepted: 0, refused: 0, named: 0 }
    for (let round = 0; round < ROUNDS; round += 1) {
      const { text, path: right } = goals[round % goals.length] ?? EXPLORE
      const { outcome } = await session.send(text, { settings }).answer
      expect(['answered', 'silent']).toContain(outcome)
      const { citations, findings } = await readExploration(session, { root })
      counts.accepted += citations.accepted
      counts.refused += citations.refused
      counts.named += findings.some(({ evidence }) => evidence.some((one) => one.path === right)) ? 1 : 0
    }
    for (const { messages } of requests) expect(validateHistory(messages)).toEqual([])
    console.info(
      `explorer, small model, ${name}: ${ROUNDS} explorations, ${requests.length} requests; citations ${counts.accepted} accepted, ` +
        `${counts.refused} refused; the right file cited in ${counts.named}; ${describeRotation()}`,
    )
    await host.stop()
    await model.close()
  },
)
