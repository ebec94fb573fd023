// The public names of each package are those of its `api.txt`.
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { describeApi, listFolders } from './api.ts'

const folders = listFolders().flatMap((folder): [string, string][] => {
  const text = describeApi(folder)
  return text === undefined ? [] : [[folder, text]]
})

test.each(folders)('%s has the names of its api.txt', (folder, text) => {
  // If a name was meant to change: node scripts/api.ts --write
  expect({ package: basename(folder), api: text }).toEqual({
    package: basename(folder),
    api: readFileSync(join(folder, 'api.txt'), 'utf8'),
  })
})
