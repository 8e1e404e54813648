/** Install scripts of dependencies: third-party code that `npm ci` runs with the user's rights. */

export interface Lock {
  packages: Record<string, { hasInstallScript?: boolean }>;
}

interface Manifest {
  /**
   * Whether the install script of a package may run, by package name. npm reads this setting as
   * well.
   */
  allowScripts?: Record<string, boolean>;
}

/**
 * @returns One sentence per problem: a package without a review, an entry without a package, or
 * enabled scripts.
 */
export function installScriptMistakes(lock: Lock, { allowScripts = {} }: Manifest, npmrc: string): string[] {
  const withScript = Object.entries(lock.packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
  const listed = Object.keys(allowScripts);
  return [
    ...withScript
      .filter((name) => !listed.includes(name))
      .map(
        (name) =>
          `${name} has an install script but is not in "allowScripts" of package.json. Check what the script does and whether we work without it. Then list it with false (decision 045).`,
      ),
    ...listed
      .filter((name) => !withScript.includes(name))
      .map(
        (name) =>
          `${name} is in "allowScripts" of package.json, but no dependency of that name has an install script. Remove it.`,
      ),
    ...listed
      .filter((name) => allowScripts[name])
      .map(
        (name) =>
          `${name} is allowed in "allowScripts" of package.json, but .npmrc keeps every install script from running.`,
      ),
    ...(/^ignore-scripts=true$/m.test(npmrc) ? [] : ['.npmrc must contain ignore-scripts=true.']),
  ];
}
