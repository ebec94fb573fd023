// Precedence of settings.
import type { ModelRequest } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { withModelSettings } from './model-settings.ts'

test('settings of a model hold where a request says nothing', async () => {
  const asked: ModelRequest[] = []
  const scripted = createScriptedModel({ steps: [{ text: 'a' }] })
  const watched = {
    ...scripted,
    run: (...given: Parameters<typeof scripted.run>) => (asked.push(given[0]), scripted.run(...given)),
  }
  const model = withModelSettings(watched, { effort: 'low', maxOutputTokens: 100 })
  const request: ModelRequest = {
    instructions: '',
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
    tools: [],
    toolChoice: { type: 'auto' },
    settings: { maxOutputTokens: 7 },
    session: 's',
  }
  await model.run(request, () => undefined, new AbortController().signal)
  expect(asked[0]?.settings).toEqual({ effort: 'low', maxOutputTokens: 7 })
  expect(model.id).toBe(scripted.id)
})
