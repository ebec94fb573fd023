// Records a model's answers, then replays them without the model: the request must be the same.
import type { Model } from '@baton/host'
import { createHost, createOfflineModel, defineAgent } from '@baton/host'
import { recordModel, replayModel } from '@baton/host/testing'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

async function ask(model: Model, instructions: string): Promise<string> {
  const host = createHost({ agent: defineAgent({ name: 'parrot', model, instructions }) })
  const session = await host.session(undefined)
  try {
    return (await session.send('Hello!').answer).text
  } catch (cause) {
    return (cause as Error).message // a BatonError
  } finally {
    await host.stop()
  }
}

const file = join(mkdtempSync(join(tmpdir(), 'parrot-')), 'hello.jsonl') // in a test: a file next to it
console.log(await ask(recordModel(createOfflineModel(), file), 'Be kind.'))
console.log(await ask(replayModel(file), 'Be kind.'))
console.log(await ask(replayModel(file, { strict: true }), 'Be rude.'))
