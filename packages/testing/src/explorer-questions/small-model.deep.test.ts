// The same questions, asked of a small real model. Its wit is not judged: each exploration must end typed, and what its calls have shown is
// counted and printed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost } from '@baton/host'
import { loadGgufModel } from '@baton/models/gguf'
import { createExplorer, readExploration } from '@baton/tools/explorer'
import { expect, test } from 'vitest'
import { isEveryPlaceTried } from '../depth.ts'
import { findGguf } from '../gguf.ts'
import { REPOSITORIES, copyRepository } from './repositories.test-kit.ts'

const asked = REPOSITORIES.flatMap(({ name, questions }) => questions.map((question) => ({ name, ...question })))
const file = findGguf('the small model as an explorer of public repositories', console.warn)

// At night alone: an exploration takes minutes, and on a busy machine many.
test.skipIf(file === undefined || !isEveryPlaceTried())(
  'a small model explores public repositories, and each exploration ends typed',
  async () => {
    const place = mkdtempSync(join(tmpdir(), 'baton-questions-'))
    const sessions = { claudeCode: join(place, 'none'), codex: join(place, 'none') }
    const model = await loadGgufModel(file ?? '', { contextTokens: 4096, threads: 2 })
    const counts = { questions: 0, named: 0, accepted: 0, refused: 0 }
    try {
      for (const { name, text, path } of asked) {
        const root = copyRepository(name, place)
        const host = createHost({ agent: createExplorer({ root, model, sessions, maxSteps: 3 }) })
        const session = await host.session(`question-${counts.questions}`)
        const { outcome } = await session.send(text).answer
        expect(['answered', 'silent']).toContain(outcome)
        const { citations, topFiles } = await readExploration(session, { root })
        counts.questions += 1
        counts.named += topFiles.some((one) => one.path === path && one.calls > 0) ? 1 : 0
        counts.accepted += citations.accepted
        counts.refused += citations.refused
        await host.stop()
      }
    } finally {
      await model.close()
      rmSync(place, { recursive: true, force: true })
    }
    const { questions, named, accepted, refused } = counts
    console.info(
      `explorer, small model: ${questions} questions, the right file shown for ${named}; citations ${accepted} accepted, ${refused} refused`,
    )
  },
  4 * 3_600_000,
)
