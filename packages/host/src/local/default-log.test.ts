// Process warnings of a host without a log.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createHost } from './create-host.ts'

const model = createScriptedModel({ steps: () => ({ text: 'hi' }) })
const createAgent = () =>
  defineAgent({
    name: 'a',
    model,
    sources: [{ name: 'crm', list: () => Promise.reject(new Error('spawn crm-server ENOENT')) }],
  })

test('a source that lists no tools is told once to a program without a log, by a process warning', async () => {
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  onTestFinished(() => emitted.mockRestore())
  const host = createHost({ agent: createAgent() })
  for (const id of ['one', 'two']) await host.session(id)
  expect(emitted.mock.calls).toEqual([
    [
      'the source "crm" lists no tools: spawn crm-server ENOENT',
      expect.objectContaining({ type: 'BatonWarning', code: 'source_without_tools' }),
    ],
  ])
  await host.stop()
})

test('a program with a log reads it there alone', async () => {
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  onTestFinished(() => emitted.mockRestore())
  const lines: string[] = []
  const host = createHost({
    agent: createAgent(),
    log: { info: () => {}, warn: (message) => void lines.push(message) },
  })
  await host.session('one')
  expect(lines).toContain('a tool source lists no tools')
  expect(emitted).not.toHaveBeenCalled()
  await host.stop()
})
