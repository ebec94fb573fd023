// A server that asks the app's model for more than a session would: the device is not worn out.
import { expect, test } from 'vitest'
import { platformWorld } from '../world.ts'
import type { ClientModelsSession, ModelNotice } from './client-models.ts'
import { ClientModels } from './client-models.ts'

const notice = (run: string): ModelNotice => ({ type: 'model.run', run, model: 'tiny', request: {} }) as never // more is not read

function openModels() {
  const signals: { readonly aborted: boolean }[] = []
  const told: object[] = []
  const tiny = {
    run: (_: unknown, __: unknown, signal: { readonly aborted: boolean }) => {
      signals.push(signal)
      return new Promise<never>(() => {})
    },
  }
  const ask: ClientModelsSession['ask'] = (type, given) => void told.push({ type, ...given })
  const models = new ClientModels({ options: { models: { tiny } }, world: platformWorld(), ask })
  return { models, signals, told }
}

test('eight calls run at once, and one more is refused', () => {
  const { models, signals, told } = openModels()
  for (let run = 0; run < 9; run += 1) models.take(notice(`run-${run}`))
  expect(signals).toHaveLength(8)
  const error = { message: 'this app answers 8 calls already', code: 'model_overloaded' }
  expect(told).toEqual([{ type: 'model.result', run: 'run-8', outcome: { error } }])
})

test('a call with the name of another one ends that one', () => {
  const { models, signals } = openModels()
  models.take(notice('run'))
  models.take(notice('run'))
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
})
