// Conversation output on a terminal and on a pipe.
import { expect, test } from 'vitest'
import type { ScreenOptions } from './screen.ts'
import { createScreen } from './screen.ts'

function createScreenFor(init: Partial<ScreenOptions> = {}) {
  const said = { texts: '', notes: '' }
  const screen = createScreen({
    writeText: (text) => void (said.texts += text),
    writeNote: (text) => void (said.notes += text),
    color: false,
    ...init,
  })
  return { screen, said }
}

test('a pipe gets the answer as it is, whatever its width', () => {
  const { screen, said } = createScreenFor()
  screen.text('a long line '.repeat(30))
  screen.endText()
  expect(said.texts).toBe(`${'a long line '.repeat(30)}\n`)
})

test('what a model says cannot move the cursor of a terminal or colour it', () => {
  const { screen, said } = createScreenFor({ columns: () => 80 })
  screen.text('safe\u001b[2Jtext\u0007 \u009b31m\r')
  screen.endText()
  screen.note('note \u001b]0;title\u0007')
  expect(said).toEqual({
    texts: 'safe\\u001b[2Jtext\\u0007 \\u009b31m\n',
    notes: 'note \\u001b]0;title\\u0007\n',
  })
})

test('an answer ends its line before a note, once', () => {
  const { screen, said } = createScreenFor()
  screen.text('Half')
  screen.note('a note')
  screen.note('another')
  screen.text('done\n')
  screen.endText()
  expect(said).toEqual({ texts: 'Half\ndone\n', notes: 'a note\nanother\n' })
})

test('a call is one line of a narrow terminal, whatever its arguments', () => {
  const { screen, said } = createScreenFor({ columns: () => 20 })
  screen.brief('>', `look ${'x'.repeat(100)}\nmore`)
  expect(said.notes).toBe(`> look ${'x'.repeat(12)}…\n`)
})

test('colours are of notes alone, and only where they are wanted', () => {
  const plain = createScreenFor()
  plain.screen.note('good', 'good')
  const coloured = createScreenFor({ color: true })
  coloured.screen.note('good', 'good')
  coloured.screen.text('answer')
  expect([plain.said.notes, coloured.said.notes, coloured.said.texts]).toEqual([
    'good\n',
    '\u001b[32mgood\u001b[39m\n',
    'answer',
  ])
})
