"""A model that needs no network: it follows written playbooks and says that it does.

`playbook` is the data and its rules, `story` reads from the conversation where it stands, `model`
answers the port.
"""
