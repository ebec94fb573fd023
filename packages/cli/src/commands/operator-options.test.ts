// Names and powers of operators and senders: one clear line per mistake.
import { expect, test } from 'vitest'
import { readNamed, readOperators } from './operator-options.ts'

test('an operator without a list may see, and "all" is every power', () => {
  expect(readOperators(['mia=mia.token', 'root=root.token', 'bob=a=b'], ['root=all', 'bob=see,decide'])).toEqual([
    { name: 'mia', file: 'mia.token', powers: ['see'] },
    { name: 'root', file: 'root.token', powers: ['see', 'decide', 'act', 'export', 'remove'] },
    { name: 'bob', file: 'a=b', powers: ['see', 'decide'] },
  ])
})

test.each([
  [['mia'], [], '--console must be NAME=FILE, not "mia"'],
  [['=file'], [], '--console must be NAME=FILE, not "=file"'],
  [['anonymous=a'], [], '--console anonymous=…: clients without a login have this name; choose another one'],
  [['mia='], [], '--console must be NAME=FILE, not "mia="'],
  [['mia=a', 'mia=b'], [], '--console names mia twice'],
  [['mia=a'], ['root=all'], '--console-powers root=…: no --console root=FILE names this operator'],
  [['mia=a'], ['mia=look'], '--console-powers mia=…: use "all" or some of see,decide,act,export,remove, not "look"'],
])('%j with %j is refused', (words, lists, message) => {
  expect(() => readOperators(words, lists)).toThrow(message)
})

test('senders are named in the same way', () => {
  expect(readNamed('--webhook', ['shop=shop.secret'])).toEqual([{ name: 'shop', file: 'shop.secret' }])
  expect(() => readNamed('--webhook', ['a b=x'])).toThrow('--webhook must be NAME=FILE, not "a b=x"')
})
