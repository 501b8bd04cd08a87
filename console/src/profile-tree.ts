import type { Profile, ProfileEntry } from './model';

/** What a place of a profile is to a process. */
export type Access = 'write' | 'read' | 'closed';

export interface Place {
  /** As people read it, below its parent. */
  name: string;
  access: Access;
  places: Place[];
}

const names: Record<string, string> = {
  root: '/',
  project_roots: 'the workspace',
  slash_tmp: '/tmp',
  tmpdir: '$TMPDIR',
  minimal: 'what programs need to start',
};

/** Of two lines about the same place the higher one holds. */
const rank: Record<Access, number> = { read: 1, write: 2, closed: 3 };

function accessOf(entry: ProfileEntry): Access {
  return entry.access === 'write' || entry.access === 'read' ? entry.access : 'closed';
}

/** Steps from the root to the place of an entry: a special place is one step, and so is a pattern. */
function stepsOf({ path }: ProfileEntry): string[] {
  if (path.path !== undefined) return path.path.split('/').filter((step) => step !== '');
  if (path.pattern !== undefined) {
    const steps = path.pattern.split('/').filter((step) => step !== '');
    const wild = steps.findIndex((step) => /[*?[{]/.test(step));
    const from = path.pattern.startsWith('/') && wild > 0 ? wild : 0;
    return [...steps.slice(0, from), steps.slice(from).join('/')];
  }
  const { kind, subpath } = (path.value ?? {}) as { kind?: string; subpath?: string };
  if (kind === undefined) return [JSON.stringify(path)];
  const below = (subpath ?? '').split('/').filter((step) => step !== '');
  if (kind === 'root') return below;
  if (kind === 'slash_tmp') return ['tmp', ...below];
  return [names[kind] ?? kind, ...below];
}

/**
 * The places that a profile names, as a tree: each stands below the nearest one that holds it. What
 * is not named has what the place above it has; the root of a restricted profile is closed.
 */
export function placesOf(profile: Profile): Place {
  const files = profile.file_system;
  const root: Place = { name: '/', access: files?.type === 'restricted' ? 'closed' : 'write', places: [] };
  const entries = (files?.entries ?? []).map((entry) => ({ steps: stepsOf(entry), access: accessOf(entry) }));
  entries.sort((a, b) => a.steps.length - b.steps.length || a.steps.join('/').localeCompare(b.steps.join('/')));
  const placed: { steps: string[]; place: Place; named: boolean }[] = [{ steps: [], place: root, named: false }];
  for (const { steps, access } of entries) {
    const same = placed.find((one) => one.steps.length === steps.length && steps.every((step, at) => step === one.steps[at]));
    if (same) {
      if (same.named && rank[access] > rank[same.place.access]) same.place.access = access;
      else if (!same.named) same.place.access = access;
      same.named = true;
      continue;
    }
    const holders = placed.filter((one) => one.steps.length < steps.length && one.steps.every((step, at) => step === steps[at]));
    const holder = holders.at(-1) ?? placed[0]!;
    const place: Place = { name: steps.slice(holder.steps.length).join('/'), access, places: [] };
    holder.place.places.push(place);
    placed.push({ steps, place, named: true });
    placed.sort((a, b) => a.steps.length - b.steps.length);
  }
  return root;
}
