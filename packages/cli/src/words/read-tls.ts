// Reads and checks the files of a server's certificate and key.
import type { TlsFiles } from '@baton/server/internal'
import { BatonError } from '@baton/core'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'

export interface TlsFileNames {
  readonly certFile: string
  readonly keyFile: string
}

/** @throws BatonError `invalid_option` when a file cannot be read or is not PEM, or the two do not match */
export function readTls({ certFile, keyFile }: TlsFileNames, folder: string): TlsFiles {
  const files = { cert: readPem('--tls-cert', certFile, folder), key: readPem('--tls-key', keyFile, folder) }
  try {
    createSecureContext(files)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const message = `--tls-cert ${certFile} and --tls-key ${keyFile} cannot be used: ${why}`
    throw new BatonError({ code: 'invalid_option', message, cause })
  }
  return files
}

function readPem(option: string, file: string, folder: string): string {
  try {
    return readFileSync(resolve(folder, file), 'utf8')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BatonError({ code: 'invalid_option', message: `${option} ${file} cannot be read: ${why}`, cause })
  }
}
