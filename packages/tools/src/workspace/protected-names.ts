// Decides which names may hold secrets: keys, tokens, passwords, typed input. Such files are not listed, searched or
// read unless the workspace's owner allows them by name. Only names are judged, ignoring case because some file systems
// do; `secret-content.ts` judges contents.

const FILE_PATTERNS: readonly RegExp[] = [
  /^\.env/,
  /\.env$/,
  // Keys, and stores of keys and passwords
  /\.(pem|key|p8|p12|pfx|pkcs12|pvk|jks|jceks|bks|keystore|truststore|kdb|kdbx|ppk|gpg|pgp|age|ovpn|keychain|keychain-db)$/,
  /^(id|identity)(_(rsa|dsa|ecdsa|ecdsa_sk|ed25519|ed25519_sk|xmss))?$|^id_(rsa|dsa|ecdsa|ed25519|xmss)/,
  /^ssh_host_\w+_key$/,
  /^(wallet\.dat|key[34]\.db|logins\.json|cookies\.(txt|sqlite)|login data|local state)$/,
  // Words that mean secrets
  /^(\.|[\w-]+[-_.])?(credentials?|secrets?|passwords?|passwd|shadow|htpasswd)(\.(db|json|ya?ml|toml|ini|csv|xml|txt|properties|conf|cfg|tfrc\.json))?(\.enc)?$/,
  /^(\.|[\w-]+[-_.])?(api[-_]?keys?|access[-_]?tokens?|auth[-_]?tokens?|refresh[-_]?tokens?|vault[-_]?pass(word)?|token)(\.(db|json|ya?ml|toml|ini|txt|properties))?$/,
  /\.(secret|secrets|credentials|mobileprovision|publishsettings|agilekeychain)$/,
  /^(client[-_]secret|service[-_]?account|gcp[-_]?key|gcloud[-_]?key|application_default_credentials).*\.json$/,
  /firebase-adminsdk.*\.json$|^google-services\.json$|^googleservice-info\.plist$/,
  // Files of programs that log in
  /^(\.|_)netrc(\.gpg)?$|^\.authinfo(\.gpg)?$/,
  /^\.(npmrc|pypirc|pgpass|dockercfg|dockerconfigjson|git-credentials|my\.cnf|mylogin\.cnf|boto|s3cfg|vault-token|terraformrc|ftpconfig|fetchmailrc|msmtprc|muttrc|irssirc|rclone\.conf|snowsql|databrickscfg|esmtprc|remote-sync\.json)$/,
  /^(auth|sftp|sftp-config|robomongo)\.json$|^(terraform\.rc|rclone\.conf|pgpass\.conf|recentservers\.xml|sitemanager\.xml|datasources\.local\.xml|webservers\.xml|wp-config\.php|localsettings\.php|tnsnames\.ora)$/,
  /^(.+[-_.])?kube-?config(\.ya?ml)?$|^kube\.config$/,
  /\.(tfvars|tfstate)(\.json)?$|^terraform\.tfstate/,
  // Shell and command histories
  /^\.?\w*_history$|^\.(histfile|history|lesshst|viminfo|node_repl_history|rediscli_history)$|^consolehost_history\.txt$/,
]

/** Affixes of file copies made by editors and people. */
const COPY =
  /(?:[.~_-](?:bak|backup|old|orig|save|saved|copy|tmp|temp|prev|\d{1,8})|~|\.sw[a-p]|\.(?:gz|bz2|xz|zst|zip|tar|tgz|asc|b64|base64))$/

const FOLDERS: ReadonlySet<string> = new Set(
  (
    '.git .ssh .aws .gnupg .kube .docker .azure .gcloud .oci .password-store .terraform.d .chef .minikube .databricks ' +
    '.bitcoin .electrum .ethereum .pki .purple .mozilla .thunderbird keyrings keychains'
  ).split(' '),
)

/** Paths below the user's home folder, surrounded by `/`. */
const PLACES: readonly RegExp[] = [
  /\/\.config\/(gh|hub|gcloud|rclone|op|doctl|fly|stripe|heroku|solana|chromium|google-chrome|filezilla|git\/credentials)\//,
  /\/\.(cargo|gem)\/credentials(\.toml)?\//,
  /\/\.m2\/settings(-security)?\.xml\/|\/\.gradle\/gradle\.properties\/|\/\.bundle\/config\/|\/\.subversion\/auth\//,
]

/** `path` is relative to the workspace, with `/` separators. A folder with a secret name protects everything in it. */
export function isProtected(path: string, isFolder: boolean): boolean {
  const lower = path.toLowerCase()
  const names = lower.split('/')
  if (names.some((name) => FOLDERS.has(name))) return true
  if (PLACES.some((pattern) => pattern.test(`/${lower}/`))) return true
  let last = (names.at(-1) ?? '').replace(/^\.?#(.*?)#?$/, '$1')
  for (let copies = 0; !isFolder && copies < COPIES_MAX; copies++) {
    const name = last
    if (FILE_PATTERNS.some((pattern) => pattern.test(name))) return true
    last = name.replace(COPY, '')
    if (last === name) return /\.sw[a-p]$/.test(names.at(-1) ?? '') && isProtected(name.replace(/^\./, ''), false)
  }
  return false
}

/** Maximum copy affixes stripped from a name: `id_rsa.bak.gz`. */
const COPIES_MAX = 4
