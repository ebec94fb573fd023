// Input piped into a command along with its question.
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Console } from '../console.ts'
import { joinInput } from './joined-input.ts'

async function join(bytes: Uint8Array | string, isTTY?: boolean): Promise<string> {
  const input = Object.assign(new PassThrough(), { ...(isTTY !== undefined && { isTTY }) })
  input.end(bytes)
  const terminal = { streams: { input }, note: () => {} } as unknown as Console // the only members it uses
  return await joinInput('what changed?', terminal)
}

test('piped input follows the question', async () => {
  expect(await join('a diff\n')).toBe('what changed?\n\na diff\n')
})

test('an empty pipe, or one of blanks alone, leaves the question as it is', async () => {
  expect(await join('')).toBe('what changed?')
  expect(await join(' \n\n')).toBe('what changed?')
})

test('a terminal is not read', async () => {
  expect(await join('typed', true)).toBe('what changed?')
})

test('a character that two chunks share is whole, and bytes that are not UTF-8 are refused', async () => {
  expect(await join('é€😀')).toBe('what changed?\n\né€😀')
  await expect(join(new Uint8Array([0xff, 0xfe, 0x41]))).rejects.toMatchObject({
    code: 'invalid_option',
    message: 'standard input is not UTF-8 text',
  })
})

test('four megabytes join a question, and a byte more is refused', async () => {
  const most = 'x'.repeat(4 * 1024 * 1024)
  expect(await join(most)).toHaveLength(most.length + 'what changed?\n\n'.length)
  await expect(join(`${most}y`)).rejects.toMatchObject({ code: 'input_too_large' })
})
