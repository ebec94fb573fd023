// Which names may hold secrets: keys, tokens, passwords. Their files are neither listed, searched nor read unless the
// workspace's owner allows them by name. It judges names only, in any case, for file systems exist that ignore case.

const FILE_PATTERNS: readonly RegExp[] = [
  /^\.env/,
  /\.env$/,
  /\.(pem|key|p8|p12|pfx|jks|keystore|kdbx|ppk|tfvars|tfstate)$/,
  /^id_(rsa|dsa|ecdsa|ed25519|xmss)/,
  /^(\.|_)netrc$/,
  /^\.(npmrc|pypirc|pgpass|htpasswd|dockercfg|git-credentials|my\.cnf|boto|s3cfg|vault-token|terraformrc)$/,
  /^(\.|[\w-]+[-_.])?(credentials?|secrets?)(\.(json|ya?ml|toml|ini|csv|xml|txt|properties|enc))?$/,
  /^(client[-_]secret|service[-_]?account).*\.json$/,
  /^terraform\.tfstate/,
]

const FOLDERS: ReadonlySet<string> = new Set([
  '.git',
  '.ssh',
  '.aws',
  '.gnupg',
  '.kube',
  '.docker',
  '.azure',
  '.gcloud',
])

/** `path` is relative to the workspace with `/` between names. A folder that holds secrets protects all that is in it. */
export function isProtected(path: string, isFolder: boolean): boolean {
  const names = path.toLowerCase().split('/')
  if (names.some((name) => FOLDERS.has(name))) return true
  const last = names.at(-1) ?? ''
  return !isFolder && FILE_PATTERNS.some((pattern) => pattern.test(last))
}
