// Comments read like those of a native engineer: under 1 % of a folder's comment lines match the list of english.ts.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { countSlips, findSlips, listFolders } from './english.ts'
import { REPOSITORY } from './source-files.ts'

test.each(listFolders())('%s is in plain English', (folder) => {
  const { lines, slips } = countSlips(join(REPOSITORY, folder))
  // node scripts/english.ts FOLDER --list prints them.
  expect(slips / lines).toBeLessThan(0.01)
})

test('first words and phrases are found in comments, and not in code', () => {
  const text = '// Of a call.\nconst a = "Of a call"\n/** The call goes on. */\nconst b = 1 // Returns it.\n'
  expect(findSlips('a.ts', text).map(({ line }) => line)).toEqual([1, 3])
})
