import type { WorkspaceConfiguration } from 'vscode';

export interface Settings {
  mode: 'start' | 'attach' | 'off';
  program: string;
  address: string;
  tokens: string;
  profile: string;
  approvalPolicy: string;
}

export function readSettings(from: Pick<WorkspaceConfiguration, 'get'>): Settings {
  const mode: string = from.get('mode', 'start');
  return {
    mode: mode === 'attach' || mode === 'off' ? mode : 'start',
    program: from.get('program', 'gatehouse'),
    address: from.get('address', ''),
    tokens: from.get('tokens', ''),
    profile: from.get('profile', ''),
    approvalPolicy: from.get('approvalPolicy', ''),
  };
}
