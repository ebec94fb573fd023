// Bounds of a model's answer, for any model.
import { expect, test } from 'vitest'
import { decodeModelAnswer } from './decode-answer.ts'

function read(part: object, model = 'm') {
  const decoded = decodeModelAnswer({ parts: [part], finish: 'end', usage: {}, model })
  if (!decoded.ok) throw new Error(decoded.refusal.message)
  return decoded.value
}

test('the name of the model is bounded', () => {
  expect(read({ type: 'text', text: 'x' }, 'm'.repeat(3_000_000)).model).toBe('m'.repeat(256))
})

test('texts that are cut are cut between characters: half an emoji would never be valid Unicode again', () => {
  const edge = (chars: number): string => `${'y'.repeat(chars - 1)}😀`
  expect(read({ type: 'text', text: 'x' }, edge(256)).model).toBe(`${'y'.repeat(255)}\ufffd`)
  const call = { type: 'call', name: 'n', arguments: '{}', unreadable: edge(2000) }
  expect(read(call).parts).toEqual([{ ...call, unreadable: `${'y'.repeat(1999)}\ufffd` }])
})

test('the texts of a source are bounded, and its address leads to the web or nowhere', () => {
  const long = 'y'.repeat(9000)
  const source = { type: 'source', id: long, title: long, quote: long, mediaType: long }
  expect(read({ ...source, url: `https://x.test/${long}` }).parts).toEqual([
    {
      type: 'source',
      id: long.slice(0, 256),
      title: long.slice(0, 512),
      quote: long.slice(0, 4096),
      mediaType: long.slice(0, 256),
    },
  ])
  for (const url of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', ' https://x.test'])
    expect(read({ type: 'source', id: 's', url }).parts).toEqual([{ type: 'source', id: 's' }])
  const whole = { type: 'source', id: 's', url: `https://x.test/${'y'.repeat(2048 - 15)}` }
  expect(read(whole).parts).toEqual([whole])
})

test('a model of one’s own that ends with a wrong reason is told the right ones', () => {
  const decoded = decodeModelAnswer({ parts: [], finish: 'stop', usage: {}, model: 'm' })
  expect(decoded.ok || decoded.refusal.message).toContain(
    'finish must be "end", "tool-calls", "max-tokens", "refusal", "pause", "context-full", "malformed-call" or "other", not "stop"',
  )
})
