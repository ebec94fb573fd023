// `npm run bench`: builds the packages, then measures what users get. Help needs no build.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { buildPackages } from './build.ts'
import { REPOSITORY } from './source-files.ts'

const words = process.argv.slice(2)
const isHelp = words.some((word) => word === '--help' || word === '-h')
if (!isHelp) await buildPackages()
const options = isHelp ? ['--conditions=@baton/source'] : []
const program = [...options, join(REPOSITORY, 'bench/bench.ts'), ...words]
process.exitCode = spawnSync(process.execPath, program, { stdio: 'inherit' }).status ?? 1
