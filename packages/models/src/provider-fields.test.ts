// Fields for one provider are sent as is.
import { isBatonError } from '@baton/core'
import { expect, test } from 'vitest'
import { addProviderFields } from './provider-fields.ts'

const body = { model: 'm', max_tokens: 5, generation: { a: 1, b: 2 } }

test('fields are added and win, objects are joined, and those of other providers stay away', () => {
  const provider = { mine: { metadata: { user: 'u' }, max_tokens: 9, generation: { b: 3 } }, other: { x: 1 } }
  expect(addProviderFields(body, { provider }, 'mine')).toEqual({
    model: 'm',
    max_tokens: 9,
    generation: { a: 1, b: 3 },
    metadata: { user: 'u' },
  })
  expect(addProviderFields(body, {}, 'mine')).toBe(body)
})

test.each(['messages', 'input', 'contents', 'model', 'stream', 'tools', 'toolConfig'])('%s is Baton’s own', (name) => {
  const refuse = () => addProviderFields(body, { provider: { mine: { [name]: 1 } } }, 'mine')
  const thrown = (() => {
    try {
      return refuse()
    } catch (error) {
      return error
    }
  })()
  expect(isBatonError(thrown) && [thrown.code, thrown.message]).toEqual([
    'model_invalid_request',
    `settings.provider.mine has the field "${name}", which is reserved for Baton`,
  ])
})

test('tools that the provider runs stand before Baton’s own; in Bedrock’s body inside its toolConfig', () => {
  const search = { type: 'web_search', name: 'web_search' }
  const settings = { serverTools: { mine: [search], other: [{ x: 1 }] } }
  expect(addProviderFields({ tools: [{ name: 'look' }] }, settings, 'mine')).toEqual({
    tools: [search, { name: 'look' }],
  })
  expect(addProviderFields({ model: 'm' }, settings, 'mine')).toEqual({ model: 'm', tools: [search] })
  const toolConfig = { tools: [{ toolSpec: {} }], toolChoice: { any: {} } }
  expect(addProviderFields({ toolConfig }, { serverTools: { bedrock: [search] } }, 'bedrock')).toEqual({
    toolConfig: { tools: [search, { toolSpec: {} }], toolChoice: { any: {} } },
  })
})
